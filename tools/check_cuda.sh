#!/bin/sh
# Compiles the CUDA device with the compiler from PyPI, warnings as errors; there need be no GPU. Then tests its kernels
# on the CPU (gpu/emulate.sh), with AddressSanitizer where SANITIZE=address is set.
#   tools/check_cuda.sh [compile|emulate]     both without an argument
set -eu
cd "$(dirname "$0")/.."
venv=build/cuda-venv
what=${1:-all}
# Those of CUDA 13.0, so that a driver of that generation serves.
packages="nvidia-cuda-nvcc==13.0.* nvidia-cuda-runtime==13.0.* nvidia-cuda-crt==13.0.* nvidia-nvvm==13.0.* nvidia-cuda-cccl==13.0.*
    nvidia-cuda-nvrtc==13.0.* nvidia-nvjitlink==13.0.* nvidia-cublas==13.0.* nvidia-cusolver==12.0.4.* nvidia-cusparse==12.6.3.*"
if [ "$what" != emulate ]; then
    if ! ls $venv/lib/python3*/site-packages/nvidia/cu13/lib/libcusolver.so.* >/dev/null 2>&1; then
        python3 -m venv $venv
        # shellcheck disable=SC2086
        $venv/bin/pip install --quiet --disable-pip-version-check $packages
    fi
    NVCC=$(ls $venv/lib/python3*/site-packages/nvidia/cu13/bin/nvcc) gpu/build.sh build/gpu
fi
[ "$what" = compile ] || gpu/emulate.sh build/emulated
