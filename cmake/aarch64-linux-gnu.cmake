# For preset arm64: Debian's cross compiler and its arm64 libraries; programs of the build run under qemu-user, whose CPU
# the environment variable QEMU_CPU chooses (neoverse-n1, cortex-a72), all that it can if unset.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(PKG_CONFIG_EXECUTABLE aarch64-linux-gnu-pkg-config)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static)
