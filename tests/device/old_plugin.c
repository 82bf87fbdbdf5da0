/* A device of another version. */
#include "parallax/device.h"

__attribute__((visibility("default"))) const plx_device_table *plx_device_entry(uint32_t abi);

const plx_device_table *plx_device_entry(uint32_t abi)
{
    static const plx_device_table old = {.struct_size = sizeof old, .abi = 0, .kind = "old"};
    return abi == PLX_DEVICE_ABI ? &old : NULL;
}
