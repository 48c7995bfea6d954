// The kernels of encode/gpu/kernels.py in C, for pretended GPUs. driver.c follows.
#include <math.h>
#include <stdint.h>
#include <string.h>

typedef _Float16 half;

#define GIVEN(type, i) (*(type *)arguments[i])

static void layers_norm(const float *x, const float *scale, const float *shift, int width, float epsilon, half *out) {
	double mean = 0, variance = 0;
	for (int i = 0; i < width; i++)
		mean += x[i] / width;
	for (int i = 0; i < width; i++)
		variance += (x[i] - mean) * (x[i] - mean) / width;
	for (int i = 0; i < width; i++)
		out[i] = (half)((x[i] - mean) / sqrt(variance + epsilon) * scale[i] + shift[i]);
}

static void layers_embed(void **arguments) {
	int width = GIVEN(int, 7), rows = GIVEN(int, 8);
	float x[width];
	for (int row = 0; row < rows; row++) {
		const float *word = GIVEN(float *, 2) + (size_t)GIVEN(int *, 0)[row] * width, *place = GIVEN(float *, 3) + GIVEN(int *, 1)[row] * width;
		for (int i = 0; i < width; i++)
			x[i] = word[i] + place[i];
		layers_norm(x, GIVEN(float *, 4), GIVEN(float *, 5), width, GIVEN(float, 9), GIVEN(half *, 6) + (size_t)row * width);
	}
}

static void layers_normalise(void **arguments) {
	int width = GIVEN(int, 5), rows = GIVEN(int, 6);
	float x[width];
	for (int row = 0; row < rows; row++) {
		for (int i = 0; i < width; i++)
			x[i] = (float)GIVEN(half *, 0)[row * width + i] + (float)GIVEN(half *, 1)[row * width + i];
		layers_norm(x, GIVEN(float *, 2), GIVEN(float *, 3), width, GIVEN(float, 7), GIVEN(half *, 4) + (size_t)row * width);
	}
}

static void layers_product(void **arguments, int gelu) {
	int rows = 128 * GIVEN(int, 4), columns = 128 * GIVEN(int, 5), depth = GIVEN(int, 6);
	float x[depth];
	for (int row = 0; row < rows; row++) {
		for (int i = 0; i < depth; i++)
			x[i] = (float)GIVEN(half *, 0)[(size_t)row * depth + i];
		for (int column = 0; column < columns; column++) {
			const half *other = GIVEN(half *, 1) + (size_t)column * depth;
			float sum = 0;
			for (int i = 0; i < depth; i++)
				sum += x[i] * (float)other[i];
			sum += GIVEN(float *, 2)[column];
			if (gelu)
				sum *= 0.5f * erfcf(-sum * 0.70710678f);
			GIVEN(half *, 3)[(size_t)row * columns + column] = (half)sum;
		}
	}
}

static void layers_attend(void **arguments, unsigned blocks) {
	int heads = GIVEN(int, 3), width = GIVEN(int, 4), size = width / heads;
	const half *x = GIVEN(half *, 0);
	for (unsigned block = 0; block < blocks; block++) {
		const int *tile = GIVEN(int *, 1) + 3 * (block / heads);
		for (int row = tile[0]; row < tile[0] + 64 && row < tile[2]; row++) {
			const half *q = x + (size_t)row * 3 * width + block % heads * size;
			float total[size], shares = 0;
			memset(total, 0, sizeof total);
			for (int other = tile[1]; other < tile[2]; other++) {
				const half *k = x + (size_t)other * 3 * width + width + block % heads * size;
				float score = 0;
				for (int i = 0; i < size; i++)
					score += (float)q[i] * (float)k[i];
				float weight = exp2f(score * GIVEN(float, 5));
				shares += weight;
				for (int i = 0; i < size; i++)
					total[i] += weight * (float)k[width + i];
			}
			for (int i = 0; i < size; i++)
				GIVEN(half *, 2)[(size_t)row * width + block % heads * size + i] = (half)(total[i] / shares);
		}
	}
}

static void layers_pool(void **arguments, unsigned blocks) {
	int width = GIVEN(int, 3);
	for (unsigned sentence = 0; sentence < blocks; sentence++) {
		int start = GIVEN(int *, 1)[sentence], end = GIVEN(int, 4) ? start + 1 : GIVEN(int *, 1)[sentence + 1];
		for (int i = 0; i < width; i++) {
			float sum = 0;
			for (int row = start; row < end; row++)
				sum += (float)GIVEN(half *, 0)[(size_t)row * width + i];
			GIVEN(float *, 2)[(size_t)sentence * width + i] = sum / (end - start);
		}
	}
}

static void layers_turn(void **arguments) {
	int depth = GIVEN(int, 2), columns = GIVEN(int, 3);
	for (int row = 0; row < depth; row++)
		for (int column = 0; column < columns; column++)
			GIVEN(half *, 1)[(size_t)column * depth + row] = (half)GIVEN(float *, 0)[(size_t)row * columns + column];
}

// layers_kernel runs a kernel of encoders, if it is one.
static int layers_kernel(const char *entry, unsigned blocks, void **arguments) {
	if (!strcmp(entry, "embed"))
		layers_embed(arguments);
	else if (!strcmp(entry, "norm"))
		layers_normalise(arguments);
	else if (!strcmp(entry, "product") || !strcmp(entry, "gelu"))
		layers_product(arguments, entry[0] == 'g');
	else if (!strcmp(entry, "attend"))
		layers_attend(arguments, blocks);
	else if (!strcmp(entry, "pool"))
		layers_pool(arguments, blocks);
	else if (!strcmp(entry, "turn"))
		layers_turn(arguments);
	else
		return 0;
	return 1;
}
