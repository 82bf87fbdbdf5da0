/*
 * A directory filled under a temporary name beside its place and renamed at the end.
 */
#include "folder.h"

#include <errno.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int cli_folder_open(cli_folder *folder, cli_session *s, const char *path)
{
    *folder = (cli_folder){.path = strdup(path)};
    size_t length = folder->path ? strlen(folder->path) : 0;
    while (length > 1 && folder->path[length - 1] == '/') folder->path[--length] = '\0';
    int cleaned = folder->path ? cli_fail(s, plx_leftovers_remove(s->ctx, folder->path)) : CLI_DONE;
    if (cleaned) return cleaned;
    if (!folder->path || asprintf(&folder->temporary, "%s.%ld.tmp", folder->path, (long)getpid()) < 0) {
        folder->temporary = NULL;
        return cli_fail_text(s, "out of memory");
    }
    if (mkdir(folder->temporary, 0777) != 0) {
        int code = cli_fail_text(s, "%s: cannot create: %s", path, strerror(errno));
        free(folder->temporary);
        folder->temporary = NULL;
        return code;
    }
    return CLI_DONE;
}

int cli_folder_add(cli_folder *folder, cli_session *s, const plx_dataset *data, const char *name)
{
    char *path = NULL;
    if (asprintf(&path, "%s/%s", folder->temporary, name) < 0) return cli_fail_text(s, "out of memory");
    char *slash = strchr(path + strlen(folder->temporary) + 1, '/');
    int code = CLI_DONE;
    if (slash) {
        *slash = '\0';
        if (mkdir(path, 0777) != 0 && errno != EEXIST)
            code = cli_fail_text(s, "%s: cannot create: %s", path, strerror(errno));
        *slash = '/';
    }
    if (!code) code = cli_fail(s, plx_dataset_write(s->ctx, data, path));
    free(path);
    return code;
}

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *walk)
{
    (void)info, (void)kind, (void)walk;
    return remove(path);
}

int cli_folder_close(cli_folder *folder, cli_session *s, int code)
{
    if (!code && rename(folder->temporary, folder->path) != 0)
        code = cli_fail_text(s, "%s: cannot create: %s", folder->path, strerror(errno));
    if (code && folder->temporary) nftw(folder->temporary, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    free(folder->temporary);
    free(folder->path);
    return code;
}
