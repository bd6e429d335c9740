# The optional formats of checkpoints; safetensors is always read. models/checkpoint/CMakeLists.txt lists their sources.
# - encdec_all_formats: all of them
# - encdec_formats: those in this build, as ENCDEC_FORMATS asks: ON, OFF or a list
# - encdec_needs_zlib, encdec_needs_yaml: what they link
set(encdec_all_formats ctranslate2 marian pytorch)
if(ENCDEC_FORMATS MATCHES "^([Oo][Nn]|[Tt][Rr][Uu][Ee]|[Yy][Ee][Ss]|[Yy]|1)$")
  set(encdec_formats ${encdec_all_formats})
elseif(ENCDEC_FORMATS)
  set(encdec_formats ${ENCDEC_FORMATS})
else()
  set(encdec_formats "")
endif()
foreach(format IN LISTS encdec_formats)
  if(NOT format IN_LIST encdec_all_formats)
    list(JOIN encdec_all_formats ", " names)
    message(FATAL_ERROR "ENCDEC_FORMATS has '${format}', expected ON, OFF or a list of ${names}")
  endif()
endforeach()

set(encdec_needs_zlib OFF)
set(encdec_needs_yaml OFF)
foreach(format IN ITEMS marian pytorch)
  if(format IN_LIST encdec_formats)
    set(encdec_needs_zlib ON)
  endif()
endforeach()
if("marian" IN_LIST encdec_formats)
  set(encdec_needs_yaml ON)
endif()
