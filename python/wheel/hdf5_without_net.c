/*
 * What Debian's HDF5 asks libcurl and libcrypto for, to read files on the net (its ros3 driver), which Parallax never
 * does. In a wheel these stand in for both (tools/python_wheel.sh), so that it brings neither them nor the two dozen
 * libraries below, some of which are not free to pass on like the rest. A call would fail.
 */
#include <stddef.h>

void *curl_easy_init(void);
void curl_easy_cleanup(void *handle);
int curl_easy_perform(void *handle);
int curl_easy_setopt(void *handle, int option, ...);
int curl_global_init(long flags);
void curl_global_cleanup(void);
void *curl_slist_append(void *list, const char *text);
void curl_slist_free_all(void *list);
const void *EVP_sha256(void);
unsigned char *HMAC(const void *type, const void *key, int key_bytes, const unsigned char *data, size_t bytes,
                    unsigned char *out, unsigned *out_bytes);
unsigned char *SHA256(const unsigned char *data, size_t bytes, unsigned char *out);

enum { NOT_SUPPORTED = 4 }; /* CURLE_NOT_BUILT_IN */

void *curl_easy_init(void) { return NULL; }
void curl_easy_cleanup(void *handle) { (void)handle; }

int curl_easy_perform(void *handle)
{
    (void)handle;
    return NOT_SUPPORTED;
}

int curl_easy_setopt(void *handle, int option, ...)
{
    (void)handle, (void)option;
    return NOT_SUPPORTED;
}

int curl_global_init(long flags)
{
    (void)flags;
    return NOT_SUPPORTED;
}

void curl_global_cleanup(void) {}

void *curl_slist_append(void *list, const char *text)
{
    (void)list, (void)text;
    return NULL;
}

void curl_slist_free_all(void *list) { (void)list; }
const void *EVP_sha256(void) { return NULL; }

unsigned char *HMAC(const void *type, const void *key, int key_bytes, const unsigned char *data, size_t bytes,
                    unsigned char *out, unsigned *out_bytes)
{
    (void)type, (void)key, (void)key_bytes, (void)data, (void)bytes, (void)out, (void)out_bytes;
    return NULL;
}

unsigned char *SHA256(const unsigned char *data, size_t bytes, unsigned char *out)
{
    (void)data, (void)bytes, (void)out;
    return NULL;
}
