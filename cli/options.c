/*
 * Table-driven parsing: --name VALUE, --name=VALUE, --name.VIEW VALUE, -- ends the options. Values are checked by
 * the kind the table gives them, so that a bad number is a usage error before anything is read.
 */
#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "suggest.h"

/* ---- numbers ---- */

bool cli_read_real(double *out, const char *text)
{
    char *end = NULL;
    if (!*text || isspace((unsigned char)*text)) return false;
    *out = strtod(text, &end);
    return *end == '\0' && !isnan(*out);
}

bool cli_read_whole(long long *out, const char *text)
{
    char *end = NULL;
    if (!*text || isspace((unsigned char)*text)) return false;
    errno = 0;
    *out = strtoll(text, &end, 10);
    return *end == '\0' && errno == 0;
}

bool cli_read_share(double *out, const char *text)
{
    char *end = NULL;
    if (!isdigit((unsigned char)*text) && *text != '.') return false;
    double share = strtod(text, &end);
    if (*end == '%' && !end[1]) share /= 100;
    else if (*end) return false;
    *out = share;
    return share >= 0 && share <= 1;
}

bool cli_read_seed(uint64_t *out, const char *text)
{
    char *end = NULL;
    if (!isdigit((unsigned char)*text)) return false;
    errno = 0;
    *out = strtoull(text, &end, 10);
    return *end == '\0' && errno == 0;
}

bool cli_read_size(long long *out, const char *text)
{
    static const char units[] = "KMGT";
    char *end = NULL;
    if (!isdigit((unsigned char)*text) && *text != '.') return false;
    double bytes = strtod(text, &end);
    const char *unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
    if (unit) {
        for (const char *u = units; u <= unit; u++) bytes *= 1024.0;
        end++;
    }
    if (*end == 'i' && unit) end++;
    if (*end == 'B' || *end == 'b') end++;
    if (*end || !(bytes >= 1) || bytes > 9e18) return false;
    *out = (long long)bytes;
    return true;
}

bool cli_read_time(double *out, const char *text)
{
    static const struct {
        const char *name;
        double seconds;
    } units[] = {{"", 1}, {"s", 1}, {"sec", 1}, {"m", 60}, {"min", 60}, {"h", 3600}};
    char *end = NULL;
    if (!isdigit((unsigned char)*text) && *text != '.') return false;
    double number = strtod(text, &end);
    for (size_t k = 0; k < sizeof units / sizeof *units; k++)
        if (strcmp(end, units[k].name) == 0) {
            *out = number * units[k].seconds;
            return true;
        }
    return false;
}

/* ---- words ---- */

bool cli_is_choice(const char *choices, const char *word)
{
    size_t len = strlen(word);
    for (const char *c = choices; len && c; c = strchr(c, '|'), c = c ? c + 1 : NULL)
        if (strncmp(c, word, len) == 0 && (c[len] == '|' || c[len] == '\0')) return true;
    return false;
}

const char *cli_colour(const char *code)
{
    static char sequences[4][8];
    static int next;
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    if (!isatty(STDERR_FILENO) || (no && *no) || !term || strcmp(term, "dumb") == 0) return "";
    char *sequence = sequences[next++ % 4];
    snprintf(sequence, sizeof *sequences, "\033[%sm", code);
    return sequence;
}

int cli_usage_error(const cli_verb *verb, const char *format, ...)
{
    char title[64] = "", text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < 0x20) *c = ' ';
    if (verb) cli_verb_title(title, sizeof title, verb);
    bool question = *text && text[strlen(text) - 1] == '?';
    fprintf(stderr, "%sparallax:%s %s%s 'parallax %s%s--help'\n", cli_colour("31"), cli_colour("0"), text,
            question ? " See" : "; see", title, *title ? " " : "");
    return CLI_USAGE;
}

const cli_option *cli_verb_option(const cli_verb *verb, int i)
{
    for (const cli_option *const *set = verb->option_sets; set && *set; set++)
        for (const cli_option *o = *set; o->name; o++)
            if (i-- == 0) return o;
    return NULL;
}

/* ---- checking ---- */

static int check_number(const cli_verb *verb, const cli_option *o, const char *value)
{
    double number = 0;
    long long whole = 0;
    bool is_whole = o->kind == CLI_WHOLE;
    bool fine = is_whole ? cli_read_whole(&whole, value) : cli_read_real(&number, value);
    if (is_whole) number = (double)whole;
    if (fine && number >= o->low && (o->high <= o->low || number <= o->high)) return CLI_DONE;
    if (is_whole && *value && !value[strspn(value, "0123456789")] && o->high <= o->low && number >= o->low)
        return cli_usage_error(verb, "--%s %s: too large; at most %lld", o->name, value, LLONG_MAX);
    const char *what = is_whole ? "a whole number" : "a number";
    if (o->high > o->low)
        return cli_usage_error(verb, "--%s %s: expected %s from %g to %g", o->name, value, what, o->low, o->high);
    return cli_usage_error(verb, "--%s %s: expected %s of at least %g", o->name, value, what, o->low);
}

static int check_value(const cli_verb *verb, const cli_option *o, const char *value)
{
    long long size = 0;
    double share = 0, seconds = 0;
    const char *equals = strchr(value, '=');
    switch (o->kind) {
    case CLI_WHOLE:
    case CLI_REAL: return check_number(verb, o, value);
    case CLI_SHARE:
        if (cli_read_share(&share, value)) return CLI_DONE;
        return cli_usage_error(verb, "--%s %s: expected a share such as 30%% or 0.3", o->name, value);
    case CLI_SIZE:
        if (cli_read_size(&size, value) && (size >= 1 << 20 || !isdigit((unsigned char)value[strlen(value) - 1])))
            return CLI_DONE;
        if (cli_read_size(&size, value))
            return cli_usage_error(verb, "--%s %s: that is %s bytes; did you mean %sG?", o->name, value, value, value);
        return cli_usage_error(verb, "--%s %s: expected a size such as 500M or 8G", o->name, value);
    case CLI_TIME:
        if (cli_read_time(&seconds, value)) return CLI_DONE;
        return cli_usage_error(verb, "--%s %s: expected a time such as 30s, 5min or 2h", o->name, value);
    case CLI_CHOICE:
        if (cli_is_choice(o->choices, value)) return CLI_DONE;
        return cli_usage_error(verb, "--%s %s: expected one of %s", o->name, value, o->choices);
    case CLI_SETTING:
    case CLI_VIEW:
    case CLI_DUMP:
        if (equals && equals != value && (o->kind == CLI_SETTING || equals[1])) return CLI_DONE;
        return cli_usage_error(verb, "--%s %s: expected %s", o->name, value, o->value);
    default:
        if (*value || o->kind == CLI_TEXT) return CLI_DONE;
        return cli_usage_error(verb, "--%s: the %s is empty", o->name, o->value);
    }
}

/* ---- parsing ---- */

static int unknown_option(const cli_verb *verb, const char *argument)
{
    char name[64];
    cli_suggestion near = {name, NULL, 0};
    snprintf(name, sizeof name, "%.*s", (int)strcspn(argument + 2, "=."), argument + 2);
    for (int i = 0; cli_verb_option(verb, i); i++) cli_suggest(&near, cli_verb_option(verb, i)->name);
    const char *best = argument[1] == '-' ? cli_suggested(&near) : NULL;
    if (best) return cli_usage_error(verb, "unknown option '%s'; did you mean '--%s'?", argument, best);
    return cli_usage_error(verb, "unknown option '%s'", argument);
}

/* One use counts where the option cannot be repeated. */
static int check_once(const cli_args *args, const cli_given *g)
{
    for (const cli_given *other = args->given; other < g; other++) {
        bool same_view = !g->view || !other->view ? g->view == other->view : strcmp(g->view, other->view) == 0;
        if (other->option == g->option && same_view && !g->option->repeatable)
            return cli_usage_error(args->verb, "--%s is given twice", g->option->name);
    }
    return CLI_DONE;
}

static const cli_option *find_letter(const cli_verb *verb, const char *argument)
{
    const cli_option *o = NULL;
    if (!argument[1] || argument[2]) return NULL;
    for (int i = 0; (o = cli_verb_option(verb, i)); i++)
        if (o->letter == argument[1]) return o;
    return NULL;
}

static const cli_option *find_option(const cli_verb *verb, const char *name, size_t length, bool dotted)
{
    const cli_option *o = NULL;
    for (int i = 0; (o = cli_verb_option(verb, i)); i++)
        if (strlen(o->name) == length && strncmp(o->name, name, length) == 0 && (!dotted || o->by_view)) return o;
    return NULL;
}

/* Takes one option and its value; *used says how many arguments that were. The dotted text is cut at '=' in place:
 * argv belongs to the program. */
static int take_option(cli_args *args, char **argv, int left, int *used)
{
    bool letter = argv[0][1] != '-';
    char *argument = argv[0], *equals = letter ? NULL : strchr(argument, '=');
    size_t length = letter ? 0 : strcspn(argument + 2, "=.");
    bool dotted = !letter && argument[2 + length] == '.';
    const cli_option *o =
        letter ? find_letter(args->verb, argument) : find_option(args->verb, argument + 2, length, dotted);
    if (!o) return unknown_option(args->verb, argument);
    cli_given *g = &args->given[args->n_given++];
    g->option = o;
    g->view = dotted ? argument + 3 + length : NULL;
    *used = 1;
    if (equals) *equals = '\0';
    if (dotted && !*g->view) return cli_usage_error(args->verb, "%s: the view's name is missing", argument);
    if (o->kind == CLI_FLAG) return equals ? cli_usage_error(args->verb, "--%s takes no value", o->name) : CLI_DONE;
    if (!equals && left < 2) return cli_usage_error(args->verb, "--%s needs a value: %s", o->name, o->value);
    g->value = equals ? equals + 1 : argv[1];
    *used = equals ? 1 : 2;
    int code = check_once(args, g);
    return code ? code : check_value(args->verb, o, g->value);
}

static int positional_count(const cli_verb *verb)
{
    int count = 0;
    while (verb->positionals && verb->positionals[count].name) count++;
    return count;
}

static bool is_repeatable(const cli_positional *p)
{
    size_t length = strlen(p->name);
    return length > 3 && strcmp(p->name + length - 3, "...") == 0;
}

const cli_positional *cli_verb_positional(const cli_verb *verb, int i)
{
    int count = positional_count(verb);
    if (i < count) return &verb->positionals[i];
    return count && is_repeatable(&verb->positionals[count - 1]) ? &verb->positionals[count - 1] : NULL;
}

static int take_positional(cli_args *args, const char *value)
{
    const cli_verb *verb = args->verb;
    const cli_positional *p = cli_verb_positional(verb, args->n_positional);
    if (!p) return cli_usage_error(verb, "unexpected argument '%s'", value);
    if (p->kind == CLI_CHOICE && !cli_is_choice(p->choices, value))
        return cli_usage_error(verb, "%s '%s': expected one of %s", p->name, value, p->choices);
    if (!*value) return cli_usage_error(verb, "%s is empty", p->name);
    args->positional[args->n_positional++] = value;
    return CLI_DONE;
}

/* With --view the data set may be left out: what follows it moves up. */
static void skip_data(cli_args *args)
{
    const cli_positional *p = args->verb->positionals;
    int count = positional_count(args->verb), data = 0;
    while (data < count && strncmp(p[data].name, "DATA", 4) != 0) data++;
    if (data == count || args->n_positional != count - 1 || !cli_flag(args, "view")) return;
    for (int i = count - 1; i > data; i--) args->positional[i] = args->positional[i - 1];
    args->positional[data] = NULL;
    args->n_positional = count;
}

static int check_complete(cli_args *args)
{
    const cli_verb *verb = args->verb;
    int count = positional_count(verb);
    skip_data(args);
    for (int i = args->n_positional; i < count; i++)
        if (!verb->positionals[i].optional) return cli_usage_error(verb, "%s is missing", verb->positionals[i].name);
    return CLI_DONE;
}

static bool asks_for_help(int argc, char **argv)
{
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) return true;
    return false;
}

int cli_args_parse(cli_args *args, const cli_verb *verb, int argc, char **argv)
{
    bool options = true;
    *args = (cli_args){.verb = verb, .help = asks_for_help(argc, argv), .argc = argc, .argv = argv};
    if (args->help) return CLI_DONE;
    args->given = calloc((size_t)argc + 1, sizeof *args->given);
    args->positional = calloc((size_t)(positional_count(verb) + argc) + 1, sizeof *args->positional);
    if (!args->given || !args->positional) {
        fputs("parallax: out of memory\n", stderr);
        return CLI_FAILED;
    }
    for (int i = 0, used = 1, code; i < argc; i += used) {
        used = 1;
        if (options && strcmp(argv[i], "--") == 0) {
            options = false;
            continue;
        }
        bool is_option = options && argv[i][0] == '-' && argv[i][1];
        code = is_option ? take_option(args, argv + i, argc - i, &used) : take_positional(args, argv[i]);
        if (code) return code;
    }
    return check_complete(args);
}

void cli_args_free(cli_args *args)
{
    free(args->given);
    free(args->positional);
}

/* ---- reading ---- */

const char *cli_value_at(const cli_args *args, const char *option, int i)
{
    for (int g = 0; g < args->n_given; g++)
        if (strcmp(args->given[g].option->name, option) == 0 && !args->given[g].view && i-- == 0)
            return args->given[g].value;
    return NULL;
}

int cli_value_count(const cli_args *args, const char *option)
{
    int count = 0;
    while (cli_value_at(args, option, count)) count++;
    return count;
}

const char *cli_value(const cli_args *args, const char *option)
{
    int count = cli_value_count(args, option);
    return count ? cli_value_at(args, option, count - 1) : NULL;
}

bool cli_flag(const cli_args *args, const char *option)
{
    for (int g = 0; g < args->n_given; g++)
        if (strcmp(args->given[g].option->name, option) == 0) return true;
    return false;
}

double cli_real(const cli_args *args, const char *option, double otherwise)
{
    const char *text = cli_value(args, option);
    double value = otherwise;
    return text && cli_read_real(&value, text) ? value : otherwise;
}

long long cli_whole(const cli_args *args, const char *option, long long otherwise)
{
    const char *text = cli_value(args, option);
    long long value = otherwise;
    return text && cli_read_whole(&value, text) ? value : otherwise;
}
