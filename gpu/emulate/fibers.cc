/*
 * The turns of the fibers: see fibers.h. Every fiber has its own stack (ucontext), entered once; from then on control
 * goes back and forth by _setjmp, which asks nothing of the system. The order of turns is drawn anew for every round
 * from a generator of fixed seed, so a failure can be repeated.
 */
#include "cuda_runtime.h"

#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <ucontext.h>
#include <vector>

emulated_index threadIdx, blockIdx, blockDim, gridDim;

namespace
{

enum { STACK = 128 << 10, LANES = 32, AT_BLOCK = -1, READY = 0, DONE = -2 }; /* waits > 0: the kind of an exchange */

struct fiber {
    ucontext_t context;
    jmp_buf place;
    bool entered;
    std::vector<char> stack;
    int waits;
    unsigned exchanges; /* so far: their parity chooses the slots */
};

struct warp_slots {
    uint64_t word[2][LANES];
};

std::vector<fiber> fibers;
std::vector<warp_slots> slots;
std::vector<int> turns;
void *shared_bytes;
int64_t shared_count;
jmp_buf scheduler;
ucontext_t unused;
int current, live;
const std::function<void()> *body;
uint64_t random_state = 88172645463325252ull;

uint64_t draw()
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    return random_state ^= random_state << 17;
}

[[noreturn]] void stop(const char *why)
{
    fprintf(stderr, "emulated kernel: block %u, thread %u: %s\n", blockIdx.x, threadIdx.x, why);
    abort();
}

void enter_fiber()
{
    (*body)();
    fibers[current].waits = DONE;
    _longjmp(scheduler, 1);
}

void resume(int t)
{
    if (_setjmp(scheduler) != 0) return;
    if (fibers[t].entered) _longjmp(fibers[t].place, 1);
    fibers[t].entered = true;
    swapcontext(&unused, &fibers[t].context);
}

void wait_for(int what)
{
    int me = current;
    fibers[me].waits = what;
    if (_setjmp(fibers[me].place) == 0) _longjmp(scheduler, 1);
    threadIdx.x = (unsigned)me;
}

void start_block(int threads)
{
    live = threads;
    if (shared_count) memset(shared_bytes, 0xA5, (size_t)shared_count);
    for (int t = 0; t < threads; t++) {
        fiber &f = fibers[t];
        f.waits = READY;
        f.exchanges = 0;
        f.entered = false;
        getcontext(&f.context);
        f.context.uc_stack.ss_sp = f.stack.data();
        f.context.uc_stack.ss_size = f.stack.size();
        f.context.uc_link = nullptr;
        makecontext(&f.context, enter_fiber, 0);
    }
}

/* Lets everybody go on who is at a complete exchange or barrier; false: nobody is. */
bool open_gates(int threads)
{
    bool opened = false;
    int at_block = 0;
    for (int w = 0; w < threads; w += LANES) {
        int waiting = 0, kind = fibers[w].waits;
        for (int l = 0; l < LANES; l++) {
            at_block += fibers[w + l].waits == AT_BLOCK;
            waiting += fibers[w + l].waits == kind;
        }
        if (kind <= READY || waiting < LANES) continue;
        for (int l = 0; l < LANES; l++) fibers[w + l].waits = READY;
        opened = true;
    }
    if (live > 0 && at_block == threads) {
        for (int t = 0; t < threads; t++) fibers[t].waits = READY;
        opened = true;
    }
    return opened;
}

void run_block(int threads)
{
    start_block(threads);
    while (live > 0) {
        bool ran = false;
        for (int t = threads - 1; t > 0; t--) std::swap(turns[t], turns[draw() % (uint64_t)(t + 1)]);
        for (int t : turns) {
            if (fibers[t].waits != READY) continue;
            current = t;
            threadIdx.x = (unsigned)t;
            resume(t);
            live -= fibers[t].waits == DONE;
            ran = true;
        }
        if (!open_gates(threads) && !ran) stop("threads wait for others that never come, or at different calls");
    }
}

} // namespace

void __syncthreads() { wait_for(AT_BLOCK); }

const uint64_t *emulate_exchange(uint64_t mine, int kind)
{
    int me = current;
    unsigned parity = fibers[me].exchanges++ % 2;
    warp_slots &s = slots[me / LANES];
    s.word[parity][me % LANES] = mine;
    wait_for(kind);
    return s.word[parity];
}

void *emulated_room() { return shared_bytes; }

void emulate_launch(int64_t blocks, int threads, int64_t room, const std::function<void()> &kernel)
{
    if (threads % LANES) stop("blocks of whole warps only");
    shared_count = room;
    shared_bytes = room > 0 ? aligned_alloc(16, (size_t)(room + 15) / 16 * 16) : nullptr;
    body = &kernel;
    blockDim.x = (unsigned)threads;
    gridDim.x = (unsigned)blocks;
    if ((int)fibers.size() < threads) {
        fibers.resize((size_t)threads);
        for (fiber &f : fibers) f.stack.resize(STACK);
    }
    slots.resize((size_t)(threads / LANES));
    turns.resize((size_t)threads);
    for (int t = 0; t < threads; t++) turns[t] = t;
    std::vector<unsigned> order((size_t)blocks);
    for (int64_t b = 0; b < blocks; b++) order[b] = (unsigned)b;
    for (int64_t b = blocks - 1; b > 0; b--) std::swap(order[b], order[draw() % (uint64_t)(b + 1)]);
    for (unsigned b : order) {
        blockIdx.x = b;
        run_block(threads);
    }
    free(shared_bytes);
}

/* Most bytes taken at a time since the last call with `restart`, beyond what was taken then. */
extern "C" __attribute__((visibility("default"))) int64_t plx_emulated_peak(int restart)
{
    static size_t base;
    if (restart) base = emulated().peak = emulated().used;
    return (int64_t)(emulated().peak - base);
}
