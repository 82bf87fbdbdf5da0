/*
 * Runs a fuzz target over files, without libFuzzer: every argument is a file or a directory of files. With --mutate N
 * before them, N damaged copies of each file follow: the same ones every time.
 */
#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>

#include "core/rng.h"
#include "fuzz.h"

static long mutants;

/* ---- damage ---- */

/* One random change: another byte, a cut, a piece again, or something numbers and formats are made of. */
static size_t change(uint8_t *data, size_t size, size_t room, plx__rng *r)
{
    static const char *const pieces[] = {
        "0", "-1",  "9999999999999999999", "nan", "1e400", "\n", "\r\n", ",", "\"", "\t", " ", "%", ":", "{",
        "]", "\xff"};
    size_t at = (size_t)plx__next_below(r, (plx_index)size + 1), len = (size_t)plx__next_below(r, 16) + 1;
    switch (plx__next_below(r, 4)) {
    case 0:
        if (at < size) data[at] = (uint8_t)plx__next_below(r, 256);
        return size;
    case 1: /* cut a piece out, or everything behind */
        if (at + len >= size || plx__next_below(r, 8) == 0) return at;
        memmove(data + at, data + at + len, size - at - len);
        return size - len;
    case 2: /* a piece again, right behind itself */
        if (at + len > size || size + len > room) return size;
        memmove(data + at + len, data + at, size - at);
        return size + len;
    default: {
        const char *piece = pieces[plx__next_below(r, sizeof pieces / sizeof *pieces)];
        len = strlen(piece);
        if (size + len > room) return size;
        memmove(data + at + len, data + at, size - at);
        memcpy(data + at, piece, len);
        return size + len;
    }
    }
}

static void run_damaged(const uint8_t *data, size_t size)
{
    enum { EXTRA = 256 };
    for (long m = 0; m < mutants; m++) {
        plx__rng r = plx__rng_start((uint64_t)m, size);
        uint8_t *copy = malloc(size + EXTRA);
        if (!copy) abort();
        memcpy(copy, data, size);
        size_t now = size;
        for (plx_index k = plx__next_below(&r, 4); k >= 0; k--) now = change(copy, now, size + EXTRA, &r);
        uint8_t *exact = malloc(now ? now : 1);
        if (!exact) abort();
        memcpy(exact, copy, now);
        LLVMFuzzerTestOneInput(exact, now);
        free(exact);
        free(copy);
    }
}

/* ---- files ---- */

static int replay_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f) {
        perror(path);
        return 1;
    }
    fseek(f, 0, SEEK_END);
    long size = ftell(f);
    rewind(f);
    uint8_t *data = malloc(size > 0 ? (size_t)size : 1); /* exact size: ASan sees a read behind the end */
    if (!data || fread(data, 1, (size_t)size, f) != (size_t)size) abort();
    fclose(f);
    printf("%s\n", path);
    LLVMFuzzerTestOneInput(data, (size_t)size);
    run_damaged(data, (size_t)size);
    free(data);
    return 0;
}

static int replay(const char *path, int *count)
{
    struct stat info;
    if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode)) {
        ++*count;
        return replay_file(path);
    }
    DIR *dir = opendir(path);
    if (!dir) return 1;
    int failed = 0;
    for (struct dirent *e = readdir(dir); e; e = readdir(dir)) {
        char file[4096];
        if (e->d_name[0] == '.') continue;
        snprintf(file, sizeof file, "%s/%s", path, e->d_name);
        failed |= replay(file, count);
    }
    closedir(dir);
    return failed;
}

int main(int argc, char **argv)
{
    int failed = 0, count = 0, first = 1;
    if (argc > 2 && strcmp(argv[1], "--mutate") == 0) {
        mutants = strtol(argv[2], NULL, 10);
        first = 3;
    }
    for (int i = first; i < argc; i++) failed |= replay(argv[i], &count);
    printf("%d files\n", count);
    return failed || count == 0;
}
