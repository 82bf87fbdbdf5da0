# The page of --report: report/ bundled into one HTML file, which becomes part of the library (src/report/page_bytes.c).
#   PLX_REPORT=AUTO  when Node 18 and npm are there; a build without them has no report and says so when asked for one
#   PLX_REPORT=ON    their absence, or a registry that cannot be reached, is an error
#   PLX_REPORT=OFF   never
set(PLX_REPORT "AUTO" CACHE STRING "Bundle the HTML report (needs Node 18 and npm): AUTO, ON or OFF")
set_property(CACHE PLX_REPORT PROPERTY STRINGS AUTO ON OFF)
if(PLX_REPORT STREQUAL "") # from an empty environment variable of the presets
  set(PLX_REPORT AUTO)
endif()

set(PLX_REPORT_PAGE ${CMAKE_CURRENT_BINARY_DIR}/report_page.html)
# Builds below one folder (build/release, build/asan, build/static) share one installation of the packages.
get_filename_component(plx_report_parent ${CMAKE_CURRENT_BINARY_DIR} DIRECTORY)
if(plx_report_parent STREQUAL "${CMAKE_CURRENT_SOURCE_DIR}/build")
  set(PLX_REPORT_WORK ${plx_report_parent}/report)
else()
  set(PLX_REPORT_WORK ${CMAKE_CURRENT_BINARY_DIR}/report)
endif()

find_program(PLX_NODE NAMES node nodejs)
find_program(PLX_NPM NAMES npm)
set(PLX_REPORT_WANTED ${PLX_REPORT})
if(PLX_REPORT STREQUAL "AUTO" AND NOT (PLX_NODE AND PLX_NPM))
  message(STATUS "No Node or npm: this build will not have --report (PLX_REPORT)")
  set(PLX_REPORT_WANTED OFF)
endif()

if(PLX_REPORT_WANTED STREQUAL "OFF")
  file(WRITE ${PLX_REPORT_PAGE}.empty "")
  configure_file(${PLX_REPORT_PAGE}.empty ${PLX_REPORT_PAGE} COPYONLY)
else()
  file(GLOB_RECURSE PLX_REPORT_SOURCES CONFIGURE_DEPENDS report/src/*)
  if(PLX_REPORT_WANTED STREQUAL "AUTO")
    set(PLX_REPORT_MODE optional)
  endif()
  add_custom_command(OUTPUT ${PLX_REPORT_PAGE}
    COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/tools/report_bundle.sh ${PLX_REPORT_WORK} ${PLX_REPORT_PAGE} ${PLX_REPORT_MODE}
    DEPENDS ${PLX_REPORT_SOURCES} report/package.json report/package-lock.json report/.npmrc report/build.mjs tools/report_bundle.sh
    COMMENT "Bundling the page of --report" VERBATIM)
endif()
set_source_files_properties(src/report/page_bytes.c PROPERTIES
  OBJECT_DEPENDS ${PLX_REPORT_PAGE} COMPILE_DEFINITIONS "PLX_REPORT_PAGE=\"${PLX_REPORT_PAGE}\"")
