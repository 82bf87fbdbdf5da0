/*
 * The kernels of view_kernel.h on a device: made there from the rows, so that no matrix of values crosses the bus.
 */
#ifndef PLX_KERNEL_DEVICE_KERNEL_H
#define PLX_KERNEL_DEVICE_KERNEL_H

#include "device/device_session.h"
#include "kernel/view_kernel.h"

plx_device_kernel plx__device_kernel_of(const plx__kernel *kernel);

/* plx__kernel_matrix between rows on the device; 0 where a flag (NULL: none) says that a row is absent. */
plx_status plx__device_kernel_values(plx__device *dev, const plx__kernel *kernel, plx_device_rows a, plx_device_rows b,
                                     const plx_device_buffer *has_a, const plx_device_buffer *has_b,
                                     plx_device_mat out);

/* plx__kernel_matrix of rows among themselves, on a device where it pays, or here. */
plx_status plx__kernel_among(plx_context *ctx, const plx__kernel *kernel, plx__points rows, plx_mat out);

/* A reference on the device: its rows, or nothing for a precomputed kernel. */
typedef struct plx__device_reference {
    plx_device_rows rows;
    plx_device_buffer *present; /* NULL: all */
} plx__device_reference;

plx_status plx__device_put_reference(plx__device_reference *out, plx__device *dev, const plx__view_kernel *k,
                                     const plx__reference *ref);
double plx__device_reference_bytes(plx__device *dev, const plx__view_kernel *k, const plx__reference *ref);

/* plx__view_kernel_base; a precomputed one is copied there. */
plx_status plx__device_kernel_base(plx__device *dev, const plx__view_kernel *k, const plx__reference *ref,
                                   plx_device_mat out);

/* out = beta out + values from the base (beta 0 or 1); its sums with M, see parallax/device.h. */
plx_status plx__device_kernel_of_base(plx__device *dev, const plx__kernel *kernel, plx_device_mat base, double beta,
                                      plx_device_mat out);
plx_status plx__device_kernel_gradient(plx__device *dev, const plx__kernel *kernel, plx_device_mat base,
                                       plx_device_mat m, double sums[2]);

/* plx__view_kernel_values of samples begin..end-1, overwriting `out`. What it needs there goes with the session. */
plx_status plx__device_view_values(plx__device *dev, const plx__view_kernel *k, plx_index begin, plx_index end,
                                   const plx__reference *ref, const plx__device_reference *there, plx_device_mat out);

#endif
