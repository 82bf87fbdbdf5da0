/*
 * Tables `run` and `value`. The file keeps to SQLite's own safe defaults (rollback journal, full synchronisation); the
 * exclusive lock goes with the process, however it ends.
 */
#include "compare/journal.h"

#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "core/file.h"
#include "parallax/version.h"

enum { APPLICATION = 0x504c584a /* PLXJ */, LAYOUT = 1 };

static const char SCHEMA[] =
    "CREATE TABLE run (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, dataset TEXT, labels TEXT,"
    " entry TEXT, repeat INTEGER, fold INTEGER, seed TEXT, status INTEGER, reason TEXT,"
    " seconds REAL, cpu REAL, memory REAL, seconds_limit REAL, memory_limit REAL, version TEXT);"
    "CREATE TABLE value (run INTEGER REFERENCES run, metric TEXT, value REAL,"
    " PRIMARY KEY (run, metric)) WITHOUT ROWID;";

struct plx__journal {
    plx_context *ctx;
    const char *path;
    sqlite3 *db;
    sqlite3_stmt *find, *values, *add, *add_value;
};

/* ---- failures ---- */

static plx_status fault(plx__journal *j)
{
    switch (sqlite3_errcode(j->db)) {
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
        PLX_FAIL(j->ctx, PLX_E_FORMAT, "%s: is no journal of comparisons, or damaged; give another name or remove it",
                 j->path);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        PLX_FAIL(j->ctx, PLX_E_IO, "%s: another program is using this journal; wait for it, or give another name",
                 j->path);
    case SQLITE_NOMEM: PLX_FAIL(j->ctx, PLX_E_NOMEM, "out of memory");
    default: PLX_FAIL(j->ctx, PLX_E_IO, "%s: journal: %s", j->path, sqlite3_errmsg(j->db));
    }
}

static plx_status execute(plx__journal *j, const char *sql)
{
    return sqlite3_exec(j->db, sql, NULL, NULL, NULL) == SQLITE_OK ? PLX_OK : fault(j);
}

static plx_status prepare(sqlite3_stmt **out, plx__journal *j, const char *sql)
{
    return sqlite3_prepare_v2(j->db, sql, -1, out, NULL) == SQLITE_OK ? PLX_OK : fault(j);
}

static plx_status read_integer(int64_t *out, plx__journal *j, const char *sql)
{
    sqlite3_stmt *s = NULL;
    plx_status st = prepare(&s, j, sql);
    if (st == PLX_OK && sqlite3_step(s) == SQLITE_ROW) *out = sqlite3_column_int64(s, 0);
    else if (st == PLX_OK) st = fault(j);
    sqlite3_finalize(s);
    return st;
}

/* ---- opening ---- */

static plx_status open_file(plx__journal *j)
{
    const char *path = j->path, *plain = NULL;
    if (!*path) path = ":memory:";
    else if (path[0] != '/') { /* a name such as :memory: is a file like any other */
        PLX_TRY(plx__arena_printf(&plain, plx__scratch(j->ctx), "./%s", path));
        path = plain;
    }
    if (plx__is_directory(path)) PLX_FAIL(j->ctx, PLX_E_IO, "%s: is a directory, expected a file name", j->path);
    if (sqlite3_open_v2(path, &j->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL) !=
        SQLITE_OK) {
        if (j->db) PLX_FAIL(j->ctx, PLX_E_IO, "%s: cannot be opened as a journal: %s", j->path, sqlite3_errmsg(j->db));
        PLX_FAIL(j->ctx, PLX_E_NOMEM, "out of memory");
    }
    /* The file may come from anywhere: nothing that its schema says is done. */
    sqlite3_db_config(j->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(j->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(j->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(j->db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    return execute(j, "PRAGMA locking_mode=EXCLUSIVE; PRAGMA synchronous=FULL; BEGIN EXCLUSIVE");
}

/* Inside the transaction that takes the lock: nothing is written into a file that is not ours. */
static plx_status make_tables(plx__journal *j, bool resume)
{
    char mark[96];
    int64_t application = 0, layout = 0, tables = 0, runs = 0;
    PLX_TRY(read_integer(&application, j, "PRAGMA application_id"));
    PLX_TRY(read_integer(&layout, j, "PRAGMA user_version"));
    PLX_TRY(read_integer(&tables, j, "SELECT count(*) FROM sqlite_master"));
    if (tables == 0 && application == 0) {
        snprintf(mark, sizeof mark, "PRAGMA application_id=%d; PRAGMA user_version=%d", APPLICATION, LAYOUT);
        PLX_TRY(execute(j, SCHEMA));
        PLX_TRY(execute(j, mark));
    } else if (application != APPLICATION || layout != LAYOUT)
        PLX_FAIL(j->ctx, PLX_E_FORMAT, "%s: %s; give another name", j->path,
                 application != APPLICATION ? "is an SQLite file, but no journal of comparisons"
                                            : "is a journal of another version of Parallax");
    PLX_TRY(read_integer(&runs, j, "SELECT count(*) FROM run"));
    if (runs && !resume)
        PLX_FAIL(j->ctx, PLX_E_ARG, "the journal %s holds %lld finished runs; resume it, or remove it to start anew",
                 j->path, (long long)runs);
    return execute(j, "COMMIT");
}

static plx_status open_journal(plx__journal *j, bool resume)
{
    PLX_TRY(open_file(j));
    PLX_TRY(make_tables(j, resume));
    PLX_TRY(prepare(&j->find, j,
                    "SELECT id, status, reason, seconds, cpu, memory, seconds_limit, memory_limit FROM run"
                    " WHERE key = ?1"));
    PLX_TRY(prepare(&j->values, j, "SELECT metric, value FROM value WHERE run = ?1 ORDER BY metric"));
    PLX_TRY(prepare(&j->add, j,
                    "INSERT OR REPLACE INTO run (id, key, dataset, labels, entry, repeat, fold, seed, status, reason,"
                    " seconds, cpu, memory, seconds_limit, memory_limit, version)"
                    " VALUES ((SELECT id FROM run WHERE key = ?1),"
                    " ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)"));
    return prepare(&j->add_value, j, "INSERT OR REPLACE INTO value (run, metric, value) VALUES (?1, ?2, ?3)");
}

plx_status plx__journal_open(plx__journal **out, plx_context *ctx, const char *path, bool resume)
{
    *out = NULL;
    if (!path) return PLX_OK;
    plx__journal *j = plx__alloc(ctx, sizeof *j);
    if (!j) PLX_FAIL(ctx, PLX_E_NOMEM, "out of memory");
    *j = (plx__journal){.ctx = ctx, .path = path};
    plx_status st = open_journal(j, resume);
    if (st == PLX_OK) *out = j;
    else plx__journal_close(j);
    return st;
}

void plx__journal_close(plx__journal *j)
{
    if (!j) return;
    sqlite3_finalize(j->find);
    sqlite3_finalize(j->values);
    sqlite3_finalize(j->add);
    sqlite3_finalize(j->add_value);
    sqlite3_close(j->db);
    plx__release(j->ctx, j, sizeof *j);
}

/* ---- reading ---- */

static const char *key_text(char out[20], uint64_t hash)
{
    snprintf(out, 20, "%016llx", (unsigned long long)hash);
    return out;
}

static double real_of(sqlite3_stmt *s, int column)
{
    return sqlite3_column_type(s, column) == SQLITE_NULL ? NAN : sqlite3_column_double(s, column);
}

/* Wider limits than those a run was given up under: it is tried again. */
static bool tried_enough(sqlite3_stmt *s, int64_t status, const plx__journal_key *key)
{
    double seconds = real_of(s, 6), memory = real_of(s, 7);
    if (status == PLX_E_CANCELLED) return key->seconds_limit > 0 && key->seconds_limit <= seconds;
    return status != PLX_E_NOMEM || key->memory_limit <= memory;
}

static plx_status read_values(plx__measured *out, plx__journal *j, plx__arena *arena, int64_t run)
{
    const char **name = NULL;
    double *value = NULL;
    plx_index count = 0, next = 0;
    sqlite3_bind_int64(j->values, 1, run);
    while (sqlite3_step(j->values) == SQLITE_ROW) count++;
    sqlite3_reset(j->values);
    PLX_TRY(PLX__ARENA_NEW(&name, arena, count));
    PLX_TRY(plx__arena_f64(&value, arena, count, 1));
    while (next < count && sqlite3_step(j->values) == SQLITE_ROW) {
        const char *text = (const char *)sqlite3_column_text(j->values, 0);
        PLX_TRY(plx__arena_text(&name[next], arena, text ? text : ""));
        value[next++] = real_of(j->values, 1);
    }
    if (sqlite3_reset(j->values) != SQLITE_OK || next < count) return fault(j);
    out->name = name;
    out->value = value;
    out->count = count;
    return PLX_OK;
}

static plx_status read_run(bool *found, plx__measured *out, plx__journal *j, plx__arena *arena,
                           const plx__journal_key *key)
{
    sqlite3_stmt *s = j->find;
    int64_t status = sqlite3_column_int64(s, 1);
    const char *reason = (const char *)sqlite3_column_text(s, 2);
    if (!tried_enough(s, status, key)) return PLX_OK;
    if (status > PLX_OK || status < PLX_E_INTERNAL || (status != PLX_OK) != (reason != NULL))
        PLX_FAIL(j->ctx, PLX_E_FORMAT, "%s: damaged; give another name or remove it", j->path);
    *out = (plx__measured){.done = true, .resumed = true, .status = (plx_status)status};
    out->seconds = real_of(s, 3);
    out->cpu = real_of(s, 4);
    out->memory = real_of(s, 5);
    if (reason) PLX_TRY(plx__arena_text(&out->reason, arena, reason));
    *found = true;
    return read_values(out, j, arena, sqlite3_column_int64(s, 0));
}

plx_status plx__journal_find(bool *found, plx__measured *out, plx__journal *j, plx__arena *arena,
                             const plx__journal_key *key)
{
    char text[20];
    *found = false;
    if (!j) return PLX_OK;
    sqlite3_bind_text(j->find, 1, key_text(text, key->hash), -1, SQLITE_TRANSIENT);
    int step = sqlite3_step(j->find);
    plx_status st = step == SQLITE_ROW ? read_run(found, out, j, arena, key) : step == SQLITE_DONE ? PLX_OK : fault(j);
    sqlite3_reset(j->find);
    return st;
}

/* ---- writing ---- */

static void bind_real(sqlite3_stmt *s, int at, double value)
{
    if (isnan(value)) sqlite3_bind_null(s, at);
    else sqlite3_bind_double(s, at, value);
}

static void bind_text(sqlite3_stmt *s, int at, const char *text)
{
    if (text) sqlite3_bind_text(s, at, text, -1, SQLITE_STATIC);
    else sqlite3_bind_null(s, at);
}

static plx_status step_once(plx__journal *j, sqlite3_stmt *s)
{
    bool done = sqlite3_step(s) == SQLITE_DONE;
    plx_status st = done ? PLX_OK : fault(j);
    sqlite3_reset(s);
    return st;
}

static plx_status add_row(plx__journal *j, const plx__journal_key *key, const plx__measured *run)
{
    char text[20], seed[24];
    sqlite3_stmt *s = j->add;
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)key->seed);
    bind_text(s, 1, key_text(text, key->hash));
    bind_text(s, 2, key->dataset);
    bind_text(s, 3, key->labels);
    bind_text(s, 4, key->entry);
    sqlite3_bind_int64(s, 5, key->repeat);
    if (key->fold < 0) sqlite3_bind_null(s, 6);
    else sqlite3_bind_int64(s, 6, key->fold);
    bind_text(s, 7, seed);
    sqlite3_bind_int(s, 8, (int)run->status);
    bind_text(s, 9, run->reason);
    bind_real(s, 10, run->seconds);
    bind_real(s, 11, run->cpu);
    bind_real(s, 12, run->memory);
    bind_real(s, 13, key->seconds_limit);
    bind_real(s, 14, key->memory_limit);
    bind_text(s, 15, PLX_VERSION_STRING);
    return step_once(j, s);
}

static plx_status add_all(plx__journal *j, const plx__journal_key *key, const plx__measured *run)
{
    char text[20];
    PLX_TRY(add_row(j, key, run));
    sqlite3_bind_text(j->find, 1, key_text(text, key->hash), -1, SQLITE_TRANSIENT);
    if (sqlite3_step(j->find) != SQLITE_ROW) return fault(j);
    int64_t id = sqlite3_column_int64(j->find, 0);
    sqlite3_reset(j->find);
    for (plx_index i = 0; i < run->count; i++) {
        sqlite3_bind_int64(j->add_value, 1, id);
        bind_text(j->add_value, 2, run->name[i]);
        bind_real(j->add_value, 3, run->value[i]);
        PLX_TRY(step_once(j, j->add_value));
    }
    return execute(j, "COMMIT");
}

plx_status plx__journal_add(plx__journal *j, const plx__journal_key *key, const plx__measured *run)
{
    if (!j) return PLX_OK;
    PLX_TRY(execute(j, "BEGIN"));
    plx_status st = add_all(j, key, run);
    if (st != PLX_OK) sqlite3_exec(j->db, "ROLLBACK", NULL, NULL, NULL);
    return st;
}
