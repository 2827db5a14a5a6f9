#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ascendc_test.sh PREFIX SOURCES: kernels in AscendC, compiled by the installed `npusim cc` in an
# empty folder, give right results under `npusim exec`; what is wrong is said in a line.
source "$(dirname "$0")/programs.sh"
trap 'echo "line $LINENO failed: $BASH_COMMAND" >&2; cat errors output 2> /dev/null || true' ERR
sources=$2/ascendc
npusim=$prefix/bin/npusim
host_program() { cpp_program "$sources/$1_main.cpp" "${2:-$1}" -I"$sources" "${@:3}" -lascendcl; } # NAME OUTPUT OBJECT...
for name in adds products totals; do host_program $name; done

# What it makes, where, and what it says of it.
"$npusim" cc "$sources/adds.cpp" > output
[[ $(sed 's/[0-9]\+ bytes/N bytes/' output) == "add_half: aiv, N bytes, in adds.o
add_float: aiv, N bytes, in adds.o
add_int: aiv, N bytes, in adds.o" ]]
"$npusim" cc "$sources/vectors.cpp" -o vectors.o > output
"$npusim" cc "$sources/totals.cpp" > output
"$npusim" cc "$sources/products.cpp" -I . -D UNUSED=1 > output
grep '^product_half: aic, ' output > /dev/null
"$npusim" cc "$sources/mixed.cpp" --host -I "$prefix/include" > output
[[ $(sed 's/, [0-9]* bytes.*//' output | sort) == "numbers: aiv
numbers_1: aiv
relu_product: mix" ]]
host_program mixed mixed mixed.o
"$npusim" cc "$sources/symbols.cpp" --host -I "$prefix/include" > output
[[ $(sed 's/: .*//' output) == "raise
gather
deep
copied" ]]
c++ symbols.o -L"$prefix/lib" -lascendcl -o symbols
# The same source, the same bytes.
"$npusim" cc "$sources/adds.cpp" --output again.o > output
cmp adds.o again.o
head -c 10000 adds.o > torn.o

run() { exec_on 910b2 --set core.hazards=report --report "$1" -- "${@:2}"; }
hazards() { # REPORT: how many it has
  python3 -c '
import json, sys
tables = json.load(open(sys.argv[1]))["tables"]
print(sum(len(t["rows"]) for t in tables if t["title"] == "hazards of programs of AI Cores"))' "$1"
}
for name in adds products totals mixed symbols; do
  run "$name.json" "./$name"
  grep '^right$' output > /dev/null
  [[ $(hazards "$name.json") == 0 ]]
done
run products.json ./products
run adds.json ./adds
grep 'no kernel add_double, the binary has add_half, add_float, add_int' output > /dev/null

# A wait too few is found, and the line that it is missing in front of.
"$npusim" cc "$sources/vectors.cpp" -o vectors.o -D NO_WAIT > output
run hazards.json ./adds || true
[[ $(hazards hazards.json) != 0 ]]
exec_on 910b2 --set core.hazards=fail -- ./adds && exit 1
grep 'not complete: failed: exec: [0-9]* hazards in programs of card0' output > /dev/null
line=$(grep -n 'Relu(a, a' "$sources/vectors.cpp" | cut -d: -f1)
grep "V relu at vectors.cpp:$line (chain, .* overwrites what MTE2 gm_to_ub at vectors.cpp:" hazards.json > /dev/null

# Of a program that ends well, too: two blocks write the same words.
cat > same.cpp << 'END'
#include "kernel_operator.h"
__global__ __vector__ void same(__gm__ int32_t* to) {
  AscendC::TPipe pipe;
  AscendC::TBuf<AscendC::TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 32);
  auto ones = buffer.Get<int32_t>();
  AscendC::Duplicate(ones, 1, 8);
  AscendC::PipeBarrier<PIPE_ALL>();
  AscendC::GlobalTensor<int32_t> words;
  words.SetGlobalBuffer(to, 8);
  AscendC::DataCopy(words, ones, 8);
}
int write_twice(void* stream, int32_t* to) { return same<<<2, nullptr, stream>>>(to); }
END
cat > same_main.cpp << 'END'
#include "program.hpp"
int write_twice(void* stream, std::int32_t* to);
int main() {
  OK(aclInit(nullptr));
  OK(aclrtSetDevice(0));
  {
    const OnCard<std::int32_t> words(std::vector<std::int32_t>(8));
    OK(write_twice(nullptr, static_cast<std::int32_t*>(words.address())));
    OK(aclrtSynchronizeDevice());
    REQUIRE(words.values() == std::vector<std::int32_t>(8, 1));
  }
  OK(aclFinalize());
  std::puts("right");
}
END
"$npusim" cc same.cpp --host -I "$prefix/include" > output
cpp_program same_main.cpp same -I"$sources" same.o -lascendcl
code=0
exec_on 910b2 --set core.hazards=fail -- ./same || code=$?
[[ $code == 1 && $(rights) == 1 && $(tail -n 1 errors) == "npusim: exec: 1 hazard in programs of card0's AI Cores, named in the report" ]]
expect_on 910b2 1 --set core.hazards=report -- ./same

# A queue has no second tensor.
cat > trap.cpp << 'END'
#include "kernel_operator.h"
using namespace AscendC;
__global__ __vector__ void trap(GM_ADDR x) {
  TPipe pipe;
  TQue<TPosition::VECIN, 1> queue;
  pipe.InitBuffer(queue, 1, 64);
  for (int i = 0; i < 2; ++i) queue.AllocTensor<half>();
}
int multiply(uint32_t, void* stream, void* a, void*, void*, uint16_t) { return trap<<<1, nullptr, stream>>>(a); }
int number(void*, int32_t*, int, int32_t) { return 0; }
END
"$npusim" cc trap.cpp --host -I "$prefix/include" > output
host_program mixed trap trap.o
run trapped.json ./trap && exit 1
grep 'kernel trap, block 0, core [0-9]*, scalar unit, code 42433' errors > /dev/null

"$npusim" cc "$sources/peers.cpp" --host -I "$prefix/include" > output
host_program peers peers peers.o
expect_on system-2x910b2 1 -- ./peers 1 0
expect_on system-16x910b2 1 --races=fail -- ./peers 2 3

# Kernels that print: messages of 2 words and the text's 4, 341 of which have room in 16 KiB less 16 B.
"$npusim" cc "$sources/prints.cpp" --host -I "$prefix/include" > output
host_program prints prints prints.o
run prints.json ./prints
said() { # BLOCK VALUE
  printf 'block %d:  2.25|%-4d|%4d|4294967295 ff all%%q\n-5000000000 %d\n' "$1" "$2" "$2" "$2"
}
turn() { echo launched; said 0 7; said 1 7; said 0 8; echo first; said 0 9; echo second; said 0 10; }
turn > expected
turn >> expected
for _ in $(seq 341); do echo 'a line of thirty-two characters'; done >> expected
echo right >> expected
sed '/^exec on /,$d' output | diff expected -
grep 'block 0 of a kernel: no room for 9 printed messages' errors > /dev/null

wrong() { # WHAT, WORDS...: one line, exit code 2
  local code=0
  "$npusim" cc "${@:2}" > output 2> errors || code=$?
  is_one_line $code
  grep "$1" errors > /dev/null
}
wrong 'none.cpp: no such file' none.cpp
wrong 'cc: which file' 
wrong 'which file' a.cpp b.cpp
echo '#include "kernel_operator.h"' > empty.cpp
wrong 'empty.cpp: no kernel' empty.cpp
printf '#include "kernel_operator.h"\nextern "C" __global__ __aicore__ void k(GM_ADDR x) {\n  x.y();\n}\n' > bad.cpp
wrong 'bad.cpp:3: .*error: ' bad.cpp
printf '#include "none.h"\n' > missing.cpp
wrong 'missing.cpp:1: .*none.h' missing.cpp
printf '#include "kernel_operator.h"\n__gm__ int x[4], y;\n' > array.cpp
wrong 'array.cpp:2: x: one variable in a declaration with __gm__' array.cpp
printf '#include "kernel_operator.h"\n__global__ __vector__ void k() { __gm__ int x = 2; x += 1; }\n' > local.cpp
wrong 'local.cpp:2: error: ' local.cpp
printf '#include "kernel_operator.h"\n\nvoid f() { k<2><<<1, 0, 0>>>(); }\n' > launch.cpp
wrong 'launch.cpp:3: no kernel k in front of <<<' launch.cpp
wrong 'kernel-type' "$sources/adds.cpp" --kernel-type gpu
wrong 'printf is there with npusim cc --host' "$sources/prints.cpp"
printf '#include "kernel_operator.h"\n__global__ __vector__ void k() {\n  asm("nop");\n}\n' > assembly.cpp
wrong 'assembly.cpp:3: asm: ' assembly.cpp
# Cores of the wrong kind have no such unit.
"$npusim" cc "$sources/products.cpp" --kernel-type aiv > output
grep '^product_half: aiv, ' output > /dev/null
run faulted.json ./products && exit 1
grep 'invalid instruction, block [0-9]*, core [0-9]*, MTE2 instruction 1, to: offset 0x0 in L1' errors > /dev/null

# Projects for the vendor's toolkit find it where npusim is installed; built under exec, too.
mkdir -p project/kernels && cd project
cat > kernels/hello.cpp << 'END'
#include "kernel_operator.h"
#include "hello.h"
extern "C" __global__ __aicore__ void hello(int32_t value) { AscendC::printf("hello %d\n", value + OFFSET); }
int say_hello(void* stream, int value) { return hello<<<1, nullptr, stream>>>(value); }
END
echo 'int say_hello(void* stream, int value);' > hello.h
printf '#include "kernel_operator.h"\n__global__ __vector__ void one(__gm__ float* x) { x[0] = 1; }\n' > kernels/one.cpp
cat > main.cpp << 'END'
#include <acl/acl.h>
#include "hello.h"
int main() {
  aclrtBinHandle binary = nullptr;
  aclrtFuncHandle one = nullptr;
  if (aclInit(nullptr) != 0 || aclrtSetDevice(0) != 0) return 1;
  if (aclrtBinaryLoadFromFile("out/fatbin/file/file.o", nullptr, &binary) != 0) return 2;
  if (aclrtBinaryGetFunction(binary, "one", &one) != 0) return 3;
  if (say_hello(nullptr, 40) != 0 || aclrtSynchronizeStream(nullptr) != 0) return 4;
  return aclFinalize();
}
END
cat > CMakeLists.txt << 'END'
cmake_minimum_required(VERSION 3.16)
project(outside CXX)
set(CMAKE_INSTALL_PREFIX "${CMAKE_CURRENT_LIST_DIR}/out" CACHE STRING "" FORCE)
include($ENV{ASCENDC_CMAKE_DIR}/ascendc.cmake)
ascendc_library(kernels STATIC kernels/hello.cpp)
ascendc_compile_definitions(kernels PRIVATE OFFSET=2)
ascendc_fatbin_library(file kernels/one.cpp)
include_directories(${CMAKE_CURRENT_SOURCE_DIR} ${ASCEND_CANN_PACKAGE_PATH}/include)
link_directories(${ASCEND_CANN_PACKAGE_PATH}/lib64)
add_executable(main main.cpp)
target_compile_options(main PRIVATE -std=c++17 -D_GLIBCXX_USE_CXX11_ABI=0 -Wall -Werror)
target_link_libraries(main PRIVATE kernels ascendcl ${ASCEND_CANN_PACKAGE_PATH}/lib64/libopapi.so)
END
cat > run.sh << 'END'
set -eu
source "$ASCEND_INSTALL_PATH/bin/setenv.bash"
cmake -B build -DASCEND_CANN_PACKAGE_PATH="$ASCEND_INSTALL_PATH"
cmake --build build
cmake --install build
build/main > printed
END
ASCEND_INSTALL_PATH=$prefix/share/npusim/ascend "$npusim" --config 910b2 exec --report r.json -- \
  bash run.sh > output 2> errors
[[ $(cat printed) == 'hello 42' ]]

# The same by the language ASC of CMake: kernels, variables and main() in one source.
mkdir -p ../language && cd ../language
cp "$sources/symbols.cpp" "$sources/program.hpp" .
cat > CMakeLists.txt << 'END'
cmake_minimum_required(VERSION 3.16)
list(APPEND CMAKE_MODULE_PATH "$ENV{ASCENDC_CMAKE_DIR}/asc_modules")
find_package(ASC REQUIRED)
project(language LANGUAGES ASC CXX)
set_source_files_properties(symbols.cpp PROPERTIES LANGUAGE ASC)
add_executable(main symbols.cpp)
set_target_properties(main PROPERTIES LINKER_LANGUAGE ASC)
target_include_directories(main PRIVATE "$ENV{ASCEND_HOME_PATH}/include")
target_compile_options(main PRIVATE $<$<COMPILE_LANGUAGE:ASC>:-O2>)
target_link_libraries(main PRIVATE "$ENV{ASCEND_HOME_PATH}/lib64/libacl_rt.so")
END
source "$prefix/share/npusim/ascend/set_env.sh"
cmake -B build > output
cmake --build build > output
run r.json build/main
grep '^right$' output > /dev/null
