/*
 * Hints by status and by what the message is about; the first row that fits is taken.
 */
#include "hints.h"

#include <string.h>

typedef struct hint {
    plx_status status;
    const char *about; /* part of the library's message */
    const char *verb;  /* only for this verb; NULL: any */
    const char *text;  /* %s: first word of the message */
} hint;

static const hint HINTS[] = {
    {PLX_E_NOMEM, "memory limit", NULL, "--memory SIZE sets the limit"},
    {PLX_E_DEVICE, "is not installed", NULL, "--device cpu does without"},
    {PLX_E_DEVICE, "cannot be loaded", NULL, "--device cpu does without"},
    {PLX_E_CANCELLED, "time limit", NULL, "--time-limit SECONDS sets the limit"},
    {PLX_E_ARG, "finished runs; resume it", NULL, "--resume uses them"},
    {PLX_E_ARG, "there is no method '", NULL, "'parallax methods' lists them"},
    {PLX_E_ARG, " has no array '", "acquire", "'parallax acquire --help' lists them"},
    {PLX_E_ARG, " has no array '", NULL, "'parallax methods show %s' lists them"},
    {PLX_E_FORMAT, "not a model file", NULL, "'parallax fit ... --model FILE.plx' writes one"},
    {PLX_E_FORMAT, "a tagger of names, which", NULL, "'parallax ner tag' applies it"},
    {PLX_E_FORMAT, "say which columns hold ids, labels or text", NULL,
     "--id-column, --label-column, --text-column, --drop-column"},
    {PLX_E_DATA, "complete the data first", NULL, "'parallax data complete' fills them in"},
    {PLX_E_DATA, "this method needs values >= 0", NULL,
     "'parallax methods --for DATA' lists those that take such data"},
    {PLX_E_DATA, "say which column holds them", NULL, "--id-column"},
    {PLX_E_DATA, "none is called label; say which one", NULL, "--labels-from FILE:COLUMN, or --truth-column"},
    {PLX_E_DATA, "tagged text has tokens, not views", NULL, "'parallax data info' tells what it holds"},
};

static bool fits(const hint *h, const cli_verb *verb, plx_status status, const char *message)
{
    return h->status == status && strstr(message, h->about) && (!h->verb || strcmp(h->verb, verb->name) == 0);
}

const char *cli_hint(char *buffer, size_t size, const cli_verb *verb, plx_status status, const char *message)
{
    char text[160];
    size_t length = strlen(message);
    buffer[0] = '\0';
    for (size_t i = 0; i < sizeof HINTS / sizeof *HINTS; i++) {
        if (!fits(&HINTS[i], verb, status, message)) continue;
        const char *word = strstr(HINTS[i].text, "%s");
        if (word)
            snprintf(text, sizeof text, "%.*s%.*s%s", (int)(word - HINTS[i].text), HINTS[i].text,
                     (int)strcspn(message, " "), message, word + 2);
        else snprintf(text, sizeof text, "%s", HINTS[i].text);
        snprintf(buffer, size, "%s %s", length && message[length - 1] == '?' ? "" : ";", text);
        return buffer;
    }
    return buffer;
}
