/*
 * Runs a fuzz target over files, without libFuzzer: every argument is a file or a directory of files.
 */
#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>

#include "fuzz.h"

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
    uint8_t *data = malloc(size > 0 ? (size_t)size : 1);        /* exact size: ASan sees a read behind the end */
    if (!data || fread(data, 1, (size_t)size, f) != (size_t)size) abort();
    fclose(f);
    printf("%s\n", path);
    LLVMFuzzerTestOneInput(data, (size_t)size);
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
    int failed = 0, count = 0;
    for (int i = 1; i < argc; i++) failed |= replay(argv[i], &count);
    printf("%d files\n", count);
    return failed || count == 0;
}
