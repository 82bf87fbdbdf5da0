/*
 * The self-test of devices (gpu/check) on the host device: what shows that the test's own references and the contract
 * agree, where there is no GPU.
 */
#include "../../gpu/check/check.h"
#include "device/host_device.h"

int main(int argc, char **argv)
{
    return check_device(&plx__host_device_table, 0, false, argc > 1 ? argv[1] : NULL) == 0 ? 0 : 1;
}
