# Everything the library links against, as one interface target. All of it comes from
# Debian/Ubuntu packages: tools/setup.sh lists them.
add_library(plx_dependencies INTERFACE)

# BLAS: OpenBLAS by default, preferably its OpenMP build, which shares our threads. Debian keeps the variants in
# subdirectories; the plain name follows the system's alternative. Others are found by name or given by path; BLIS has no
# LAPACK, which is then the system's, MKL has all in one (docs/dev/dependencies.md).
set(PLX_BLAS openblas CACHE STRING "openblas, blis, mkl, or the path of a library with BLAS and CBLAS")
if(PLX_BLAS STREQUAL "openblas")
  find_library(PLX_BLAS_LIBRARY NAMES openblas PATH_SUFFIXES openblas-openmp openblas-pthread REQUIRED)
elseif(PLX_BLAS STREQUAL "blis")
  find_library(PLX_BLAS_LIBRARY NAMES blis PATH_SUFFIXES blis-openmp blis-pthread blis-serial REQUIRED)
elseif(PLX_BLAS STREQUAL "mkl")
  find_library(PLX_BLAS_LIBRARY NAMES mkl_rt libmkl_rt.so.3 libmkl_rt.so.2 REQUIRED)
else()
  set(PLX_BLAS_LIBRARY ${PLX_BLAS} CACHE FILEPATH "" FORCE)
endif()
find_path(PLX_CBLAS_INCLUDE NAMES cblas.h openblas_config.h
  PATH_SUFFIXES openblas-openmp ${CMAKE_LIBRARY_ARCHITECTURE}/openblas-openmp openblas ${CMAKE_LIBRARY_ARCHITECTURE} REQUIRED)
if(NOT PLX_BLAS STREQUAL "mkl")
  find_library(PLX_LAPACKE NAMES lapacke REQUIRED)
endif()
if(PLX_BLAS STREQUAL "blis")
  find_library(PLX_LAPACK NAMES lapack REQUIRED)
endif()
if(PLX_BLAS STREQUAL "openblas")
  set_source_files_properties(src/linalg/blas_library.c PROPERTIES COMPILE_DEFINITIONS PLX_OPENBLAS)
endif()
# Of SuiteSparse only AMD and its settings, both BSD; CHOLMOD is partly GPL.
find_library(PLX_AMD NAMES amd REQUIRED)
find_library(PLX_SUITESPARSECONFIG NAMES suitesparseconfig REQUIRED)
find_path(PLX_AMD_INCLUDE NAMES amd.h PATH_SUFFIXES suitesparse REQUIRED)
find_library(PLX_LBFGS NAMES lbfgs REQUIRED)
find_library(PLX_STEMMER NAMES stemmer REQUIRED)
pkg_check_modules(PLX_JANSSON REQUIRED jansson)
pkg_check_modules(PLX_ZLIB REQUIRED zlib)
pkg_check_modules(PLX_MATIO REQUIRED matio)
pkg_check_modules(PLX_UTF8PROC REQUIRED libutf8proc)
pkg_check_modules(PLX_SQLITE REQUIRED sqlite3)
find_package(HDF5 REQUIRED COMPONENTS C)

set(PLX_LIBRARIES ${PLX_LAPACKE} ${PLX_AMD} ${PLX_SUITESPARSECONFIG} ${PLX_BLAS_LIBRARY} ${PLX_LAPACK} ${PLX_LBFGS}
  ${PLX_STEMMER} ${PLX_JANSSON_LINK_LIBRARIES} ${PLX_ZLIB_LINK_LIBRARIES} ${PLX_MATIO_LINK_LIBRARIES}
  ${PLX_UTF8PROC_LINK_LIBRARIES} ${PLX_SQLITE_LINK_LIBRARIES} ${HDF5_C_LIBRARIES} m ${CMAKE_DL_LIBS})
list(REMOVE_DUPLICATES PLX_LIBRARIES)

target_include_directories(plx_dependencies SYSTEM INTERFACE
  ${PLX_CBLAS_INCLUDE} ${PLX_AMD_INCLUDE} ${HDF5_INCLUDE_DIRS} ${PLX_JANSSON_INCLUDE_DIRS} ${PLX_ZLIB_INCLUDE_DIRS}
  ${PLX_MATIO_INCLUDE_DIRS} ${PLX_UTF8PROC_INCLUDE_DIRS} ${PLX_SQLITE_INCLUDE_DIRS})
target_link_libraries(plx_dependencies INTERFACE ${PLX_LIBRARIES})

# The same as linker flags, for whoever links the archive: -lNAME, and -L where the linker does not look by itself.
set(PLX_LINK_FLAGS "")
foreach(library ${PLX_LIBRARIES} ${OpenMP_C_LIBRARIES})
  get_filename_component(folder "${library}" DIRECTORY)
  get_filename_component(name "${library}" NAME_WE)
  string(REGEX REPLACE "^lib" "" name "${name}")
  if(folder AND NOT folder IN_LIST CMAKE_C_IMPLICIT_LINK_DIRECTORIES)
    list(APPEND PLX_LINK_FLAGS -L${folder})
  endif()
  list(APPEND PLX_LINK_FLAGS -l${name})
endforeach()
list(REMOVE_DUPLICATES PLX_LINK_FLAGS)
