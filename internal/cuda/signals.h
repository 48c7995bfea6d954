enum { signals_count = 64 };

// A signals_action is the kernel's struct sigaction, on x86-64 and on arm64.
typedef struct {
	void *handler;
	unsigned long flags;
	void *restorer;
	unsigned long mask;
} signals_action;

// signals_save writes the actions of signals 1 to 64.
void signals_save(signals_action *all);

// signals_restore looks for handlers that came after signals_save. Where there was a handler before, it is put back;
// elsewhere the new one is made to run on the alternate stack, as the Go runtime requires. It returns how many it
// changed.
int signals_restore(const signals_action *before);
