#define _GNU_SOURCE
#include "signals.h"

#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static long get(int signal, signals_action *out) { return syscall(SYS_rt_sigaction, signal, NULL, out, sizeof out->mask); }

static void set(int signal, const signals_action *in) { syscall(SYS_rt_sigaction, signal, in, NULL, sizeof in->mask); }

static int has_handler(const signals_action *a) { return a->handler != (void *)SIG_DFL && a->handler != (void *)SIG_IGN; }

void signals_save(signals_action *all) {
	memset(all, 0, signals_count * sizeof *all);
	for (int s = 1; s <= signals_count; s++)
		get(s, &all[s - 1]);
}

int signals_restore(const signals_action *before) {
	int changed = 0;
	for (int s = 1; s <= signals_count; s++) {
		signals_action now = {0};
		const signals_action *then = &before[s - 1];
		if (get(s, &now) != 0 || !has_handler(&now) || now.handler == then->handler)
			continue;
		if (has_handler(then)) {
			set(s, then);
		} else if (now.flags & SA_ONSTACK) {
			continue;
		} else {
			now.flags |= SA_ONSTACK;
			set(s, &now);
		}
		changed++;
	}
	return changed;
}
