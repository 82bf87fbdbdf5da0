/*
 * JSON for callers: the library's own writer into a buffer, cut off where it is full.
 */
#include <string.h>

#include "core/json.h"
#include "parallax/json_text.h"

typedef struct sink {
    char *buffer;
    size_t size, length;
} sink;

static sink open_sink(char *buffer, plx_index size)
{
    if (buffer && size > 0) buffer[0] = '\0';
    return (sink){buffer, buffer ? (size_t)size : 0, 0};
}

static void put(sink *to, const char *text, size_t length)
{
    size_t room = to->size > to->length ? to->size - to->length - 1 : 0, fits = length < room ? length : room;
    if (fits) memcpy(to->buffer + to->length, text, fits);
    if (to->size > to->length) to->buffer[to->length + fits] = '\0';
    to->length += length;
}

plx_index plx_json_number(char *buffer, plx_index size, double value)
{
    char text[PLX__NUMBER_BYTES + 2];
    if (size < 0) return 0;
    sink to = open_sink(buffer, size);
    put(&to, text, (size_t)plx__json_number(text, value));
    return (plx_index)to.length;
}

plx_index plx_json_string(char *buffer, plx_index size, const char *text)
{
    char piece[PLX__JSON_PIECE];
    if (size < 0) return 0;
    sink to = open_sink(buffer, size);
    if (!text) {
        put(&to, "null", 4);
        return (plx_index)to.length;
    }
    put(&to, "\"", 1);
    for (size_t length; (length = plx__json_piece(piece, &text)) > 0;) put(&to, piece, length);
    put(&to, "\"", 1);
    return (plx_index)to.length;
}
