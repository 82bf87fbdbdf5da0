/* A device in a shared object of its own: the host device once more, with everything it stands on. */
#include "device/host_device.h"

__attribute__((visibility("default"))) const plx_device_table *plx_device_entry(uint32_t abi);

const plx_device_table *plx_device_entry(uint32_t abi)
{
    return abi == PLX_DEVICE_ABI ? &plx__host_device_table : NULL;
}
