#include "textflag.h"

// Both kernels take four rows at a time: R8 to R11 point at them, DX runs over the bytes of a row, BX is its length in
// bytes.

#define ROWS4 \
	MOVLQSX 0(CX), R8; IMULQ BX, R8; ADDQ R12, R8; \
	MOVLQSX 4(CX), R9; IMULQ BX, R9; ADDQ R12, R9; \
	MOVLQSX 8(CX), R10; IMULQ BX, R10; ADDQ R12, R10; \
	MOVLQSX 12(CX), R11; IMULQ BX, R11; ADDQ R12, R11

// Joins the eight partial sums of each of Y0 to Y3 and stores the four totals.
#define STORE4 \
	VPHADDD Y1, Y0, Y0; \
	VPHADDD Y3, Y2, Y2; \
	VPHADDD Y2, Y0, Y0; \
	VEXTRACTI128 $1, Y0, X1; \
	VPADDD X1, X0, X0; \
	VMOVDQU X0, (DI)

// Adds the upper half of each of Z0 to Z3 to the lower.
#define FOLD4 \
	VEXTRACTI64X4 $1, Z0, Y6; \
	VEXTRACTI64X4 $1, Z1, Y7; \
	VEXTRACTI64X4 $1, Z2, Y8; \
	VEXTRACTI64X4 $1, Z3, Y9; \
	VPADDD Y6, Y0, Y0; \
	VPADDD Y7, Y1, Y1; \
	VPADDD Y8, Y2, Y2; \
	VPADDD Y9, Y3, Y3

// func dotRowsAVX2(u, v *int32, a, b, table *int16, rows *int32, n, dim int)
//
// Each piece of a row is multiplied with both a and b while it is in a register.
TEXT ·dotRowsAVX2(SB), NOSPLIT, $0-64
	MOVQ u+0(FP), DI
	MOVQ v+8(FP), AX
	MOVQ a+16(FP), SI
	MOVQ b+24(FP), R14
	MOVQ table+32(FP), R12
	MOVQ rows+40(FP), CX
	MOVQ n+48(FP), R13
	MOVQ dim+56(FP), BX
	SHLQ $1, BX

block:
	ROWS4
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	VPXOR Y2, Y2, Y2
	VPXOR Y3, Y3, Y3
	VPXOR Y10, Y10, Y10
	VPXOR Y11, Y11, Y11
	VPXOR Y12, Y12, Y12
	VPXOR Y13, Y13, Y13
	XORQ DX, DX

step:
	VMOVDQU (SI)(DX*1), Y4
	VMOVDQU (R14)(DX*1), Y5
	VMOVDQU (R8)(DX*1), Y6
	VMOVDQU (R9)(DX*1), Y7
	VMOVDQU (R10)(DX*1), Y8
	VMOVDQU (R11)(DX*1), Y9
	VPMADDWD Y6, Y4, Y14
	VPMADDWD Y6, Y5, Y15
	VPADDD Y14, Y0, Y0
	VPADDD Y15, Y10, Y10
	VPMADDWD Y7, Y4, Y14
	VPMADDWD Y7, Y5, Y15
	VPADDD Y14, Y1, Y1
	VPADDD Y15, Y11, Y11
	VPMADDWD Y8, Y4, Y14
	VPMADDWD Y8, Y5, Y15
	VPADDD Y14, Y2, Y2
	VPADDD Y15, Y12, Y12
	VPMADDWD Y9, Y4, Y14
	VPMADDWD Y9, Y5, Y15
	VPADDD Y14, Y3, Y3
	VPADDD Y15, Y13, Y13
	ADDQ $32, DX
	CMPQ DX, BX
	JLT step

	STORE4
	VMOVDQA Y10, Y0
	VMOVDQA Y11, Y1
	VMOVDQA Y12, Y2
	VMOVDQA Y13, Y3
	XCHGQ DI, AX
	STORE4
	XCHGQ DI, AX
	ADDQ $16, CX
	ADDQ $16, DI
	ADDQ $16, AX
	SUBQ $4, R13
	JGT block
	VZEROUPPER
	RET

// func dotRowsVNNI(u, v *int32, a, b, table *int16, rows *int32, n, dim int)
//
// Eight sums run side by side: an instruction's result is ready five cycles later, and two can start in each.
TEXT ·dotRowsVNNI(SB), NOSPLIT, $0-64
	MOVQ u+0(FP), DI
	MOVQ v+8(FP), AX
	MOVQ a+16(FP), SI
	MOVQ b+24(FP), R14
	MOVQ table+32(FP), R12
	MOVQ rows+40(FP), CX
	MOVQ n+48(FP), R13
	MOVQ dim+56(FP), BX
	SHLQ $1, BX

block:
	ROWS4
	VPXORD Z0, Z0, Z0
	VPXORD Z1, Z1, Z1
	VPXORD Z2, Z2, Z2
	VPXORD Z3, Z3, Z3
	VPXORD Z10, Z10, Z10
	VPXORD Z11, Z11, Z11
	VPXORD Z12, Z12, Z12
	VPXORD Z13, Z13, Z13
	XORQ DX, DX

step:
	VMOVDQU64 (SI)(DX*1), Z4
	VMOVDQU64 (R14)(DX*1), Z5
	VMOVDQU64 (R8)(DX*1), Z6
	VMOVDQU64 (R9)(DX*1), Z7
	VMOVDQU64 (R10)(DX*1), Z8
	VMOVDQU64 (R11)(DX*1), Z9
	VPDPWSSD Z6, Z4, Z0
	VPDPWSSD Z7, Z4, Z1
	VPDPWSSD Z8, Z4, Z2
	VPDPWSSD Z9, Z4, Z3
	VPDPWSSD Z6, Z5, Z10
	VPDPWSSD Z7, Z5, Z11
	VPDPWSSD Z8, Z5, Z12
	VPDPWSSD Z9, Z5, Z13
	ADDQ $64, DX
	CMPQ DX, BX
	JLT step

	FOLD4
	STORE4
	VMOVDQA64 Z10, Z0
	VMOVDQA64 Z11, Z1
	VMOVDQA64 Z12, Z2
	VMOVDQA64 Z13, Z3
	FOLD4
	XCHGQ DI, AX
	STORE4
	XCHGQ DI, AX
	ADDQ $16, CX
	ADDQ $16, DI
	ADDQ $16, AX
	SUBQ $4, R13
	JGT block
	VZEROUPPER
	RET
