# Everything the library links against, as one interface target. All of it comes from
# Debian/Ubuntu packages: tools/setup.sh lists them.
add_library(plx_dependencies INTERFACE)

# OpenBLAS, preferably its OpenMP build, which shares our threads. Debian keeps the variants in
# subdirectories; the plain name follows the system's alternative.
find_library(PLX_OPENBLAS NAMES openblas PATH_SUFFIXES openblas-openmp openblas-pthread REQUIRED)
find_path(PLX_CBLAS_INCLUDE NAMES cblas.h openblas_config.h
  PATH_SUFFIXES openblas-openmp ${CMAKE_LIBRARY_ARCHITECTURE}/openblas-openmp openblas ${CMAKE_LIBRARY_ARCHITECTURE} REQUIRED)
find_library(PLX_LAPACKE NAMES lapacke REQUIRED)
find_library(PLX_ARPACK NAMES arpack REQUIRED)
# Of SuiteSparse only AMD and its settings, both BSD; CHOLMOD is partly GPL.
find_library(PLX_AMD NAMES amd REQUIRED)
find_library(PLX_SUITESPARSECONFIG NAMES suitesparseconfig REQUIRED)
find_path(PLX_AMD_INCLUDE NAMES amd.h PATH_SUFFIXES suitesparse REQUIRED)
find_library(PLX_LBFGS NAMES lbfgs REQUIRED)
find_library(PLX_STEMMER NAMES stemmer REQUIRED)
pkg_check_modules(PLX_JANSSON REQUIRED IMPORTED_TARGET jansson)
pkg_check_modules(PLX_ZLIB REQUIRED IMPORTED_TARGET zlib)
pkg_check_modules(PLX_MATIO REQUIRED IMPORTED_TARGET matio)
pkg_check_modules(PLX_UTF8PROC REQUIRED IMPORTED_TARGET libutf8proc)
find_package(HDF5 REQUIRED COMPONENTS C)

target_include_directories(plx_dependencies SYSTEM INTERFACE
  ${PLX_CBLAS_INCLUDE} ${PLX_AMD_INCLUDE} ${HDF5_INCLUDE_DIRS})
target_link_libraries(plx_dependencies INTERFACE
  ${PLX_LAPACKE} ${PLX_ARPACK} ${PLX_AMD} ${PLX_SUITESPARSECONFIG} ${PLX_OPENBLAS} ${PLX_LBFGS} ${PLX_STEMMER}
  PkgConfig::PLX_JANSSON PkgConfig::PLX_ZLIB PkgConfig::PLX_MATIO PkgConfig::PLX_UTF8PROC
  ${HDF5_C_LIBRARIES} m)
