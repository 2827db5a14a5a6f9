// SPDX-License-Identifier: Apache-2.0
// The kernels of adds.cpp, and those of vectors.cpp, against what is computed here.
#include <fstream>
#include <iterator>
#include <string>

#include "program.hpp"

namespace {

struct SumArguments {
  void *x, *y, *z;
  std::uint32_t total, tile;
};

template <class T>
void add(const char* name, std::uint32_t total, std::uint32_t tile, T (*make)(int),
         aclrtStream stream) {
  std::vector<T> x(total), y(total), z(total), wanted(total);
  for (std::uint32_t i = 0; i < total; ++i) {
    const int a = static_cast<int>(i * 37 % 33) - 16, b = static_cast<int>(i * 11 % 29) - 14;
    x[i] = make(a);
    y[i] = make(b);
    wanted[i] = make(a + b);
  }
  OnCard<T> dx(x), dy(y), dz(z);
  SumArguments arguments{dx.address(), dy.address(), dz.address(), total, tile};
  OK(aclrtLaunchKernel(function_of("adds.o", name), 8, &arguments, sizeof arguments, stream));
  OK(aclrtSynchronizeStream(stream));
  z = dz.values();
  REQUIRE(std::memcmp(z.data(), wanted.data(), total * sizeof(T)) == 0);
}

void chain(std::uint32_t count, aclrtStream stream) {
  constexpr std::uint32_t kBlocks = 4;
  std::vector<float> x(kBlocks * count), y(x.size()), sums(kBlocks * 8);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 53 % 201) / 32 - 3;
  OnCard<float> dx(x), dy(y), dsums(sums);
  struct {
    void *x, *y, *sums;
    std::uint32_t count;
  } arguments{dx.address(), dy.address(), dsums.address(), count};
  OK(aclrtLaunchKernel(function_of("vectors.o", "chain"), kBlocks, &arguments, sizeof arguments,
                       stream));
  OK(aclrtSynchronizeStream(stream));
  y = dy.values();
  sums = dsums.values();
  for (std::uint32_t block = 0; block < kBlocks; ++block) {
    double sum = 0;
    for (std::size_t i = block * count; i < (block + 1) * count; ++i) {
      const double root = std::sqrt(std::fabs(2.0 * x[i] - 1));
      const double wanted = root > 1 ? root : std::fmax(x[i], 0);
      REQUIRE(std::fabs(y[i] - wanted) <= 1e-6 * (1 + wanted));
      sum += wanted;
    }
    REQUIRE(std::fabs(sums[block * 8] - sum) <= 1e-5 * sum);
  }
}

void rows(std::uint16_t count, std::uint32_t length, std::uint32_t pitch, aclrtStream stream) {
  std::vector<std::int32_t> x(count * pitch), y(count * length + 1), z(4);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<std::int32_t>(i * i % 1009) - 500;
  y.back() = 77;  // behind the last row
  OnCard<std::int32_t> dx(x), dy(y), dz(z);
  struct {
    void *x, *y, *z;
    std::uint16_t rows;
    std::uint32_t length, pitch;
  } arguments{dx.address(), dy.address(), dz.address(), count, length, pitch};
  // The cores that the kernel is for, said by the program as well.
  aclrtLaunchKernelAttr attribute{};
  attribute.id = ACL_RT_LAUNCH_KERNEL_ATTR_ENGINE_TYPE;
  attribute.value.engineType = ACL_RT_ENGINE_TYPE_AIV;
  aclrtLaunchKernelCfg config{&attribute, 1};
  OK(aclrtLaunchKernelWithHostArgs(function_of("vectors.o", "rows"), 1, stream, &config, &arguments,
                                   sizeof arguments, nullptr, 0));
  OK(aclrtSynchronizeStream(stream));
  y = dy.values();
  z = dz.values();
  for (std::uint32_t row = 0; row < count; ++row) {
    for (std::uint32_t i = 0; i < length; ++i)
      REQUIRE(y[row * length + i] == x[row * pitch + i] + 5);
  }
  REQUIRE(y.back() == 77);
  std::int32_t wanted = x[0] + x[1] + 5;
  for (int i = 0; i < 4; ++i) REQUIRE(z[i] == (wanted += i == 0 ? 0 : x[i]));
  // Cube cores do not run it.
  attribute.value.engineType = ACL_RT_ENGINE_TYPE_AIC;
  EXPECT(ACL_ERROR_RT_PARAM_INVALID,
         aclrtLaunchKernelWithHostArgs(function_of("vectors.o", "rows"), 1, stream, &config,
                                       &arguments, sizeof arguments, nullptr, 0));
}

// The same file from memory that is given back before its kernel runs.
void from_memory(aclrtStream stream) {
  std::ifstream file("adds.o", std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  aclrtBinHandle binary = nullptr;
  aclrtFuncHandle function = nullptr;
  EXPECT(ACL_ERROR_INVALID_PARAM, aclrtBinaryLoadFromData(nullptr, bytes.size(), nullptr, &binary));
  EXPECT(ACL_ERROR_INVALID_PARAM, aclrtBinaryLoadFromData(bytes.data(), 0, nullptr, &binary));
  EXPECT(ACL_ERROR_INVALID_PARAM,
         aclrtBinaryLoadFromData(bytes.data(), bytes.size(), nullptr, nullptr));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID,
         aclrtBinaryLoadFromData(bytes.data(), bytes.size() / 2, nullptr, &binary));
  OK(aclrtBinaryLoadFromData(bytes.data(), bytes.size(), nullptr, &binary));
  bytes.assign(bytes.size(), '\0');
  OK(aclrtBinaryGetFunction(binary, "add_int", &function));
  OnCard<std::int32_t> x(std::vector<std::int32_t>(128, 40)), z(std::vector<std::int32_t>(128));
  SumArguments arguments{x.address(), x.address(), z.address(), 128, 128};
  OK(aclrtLaunchKernel(function, 1, &arguments, sizeof arguments, stream));
  OK(aclrtSynchronizeStream(stream));
  REQUIRE(z.values() == std::vector<std::int32_t>(128, 80));
  OK(aclrtBinaryUnLoad(binary));
}

// The kernel reads arguments in device memory when it runs: the launch does not wait for the
// stream, and another stream writes them meanwhile.
void read_late(aclrtFuncHandle add_float, aclrtStream stream) {
  constexpr std::uint32_t kTotal = 1024;
  const OnCard<float> x(std::vector<float>(kTotal, 2)), z(std::vector<float>(kTotal, 0));
  const SumArguments arguments{x.address(), x.address(), z.address(), kTotal, 128};
  const OnCard<std::uint64_t> place(std::vector<std::uint64_t>(4));
  aclrtStream gate = nullptr;
  aclrtNotify notify = nullptr;
  aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
  OK(aclrtCreateStream(&gate));
  OK(aclrtCreateNotify(&notify, 0));
  OK(aclrtWaitAndResetNotify(notify, stream, 60));
  OK(aclrtLaunchKernel(add_float, 8, place.address(), sizeof arguments, stream));
  OK(aclrtStreamQuery(stream, &status));
  REQUIRE(status == ACL_STREAM_STATUS_NOT_READY);
  OK(aclrtMemcpyAsync(place.address(), sizeof arguments, &arguments, sizeof arguments,
                      ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE, gate));
  OK(aclrtRecordNotify(notify, gate));
  OK(aclrtSynchronizeStream(stream));
  REQUIRE(z.values() == std::vector<float>(kTotal, 4));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID,
         aclrtLaunchKernel(add_float, 8, place.address(), 4096, stream));  // beyond the allocation
  void* gone = nullptr;
  OK(aclrtMalloc(&gone, sizeof arguments, ACL_MEM_MALLOC_HUGE_FIRST));
  OK(aclrtFree(gone));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID,
         aclrtLaunchKernel(add_float, 8, gone, sizeof arguments, stream));
  OK(aclrtDestroyNotify(notify));
  OK(aclrtDestroyStream(gate));
}

// What a binary has, from the program's own bytes; its kernels with arguments in device memory that
// the stream itself brings there.
void listed(aclrtStream stream) {
  constexpr std::uint32_t kTotal = 1024;
  std::ifstream file("adds.o", std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  aclrtBinary contents = aclrtCreateBinary(bytes.data(), bytes.size());
  aclrtBinHandle binary = nullptr, of_it = nullptr;
  std::uint32_t count = 0;
  aclrtFuncHandle functions[4] = {};
  OK(aclrtBinaryLoad(contents, &binary));
  OK(aclrtBinaryGetFunctionCount(binary, &count));
  REQUIRE(count == 3);
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtBinaryEnumerateFunctions(binary, functions, 4));
  OK(aclrtBinaryEnumerateFunctions(binary, functions, 3));
  char name[10];
  void *cube = nullptr, *vector = nullptr;
  std::size_t cube_size = 1, vector_size = 0;
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtGetFunctionName(functions[1], 9, name));
  OK(aclrtGetFunctionName(functions[1], sizeof name, name));
  REQUIRE(std::string(name) == "add_float");
  OK(aclrtGetFunctionAddr(functions[1], &cube, &vector));
  OK(aclrtGetFunctionSize(functions[1], &cube_size, &vector_size));
  OK(aclrtFunctionGetBinary(functions[1], &of_it));
  REQUIRE(cube == nullptr && vector != nullptr && cube_size == 0 && vector_size != 0);
  REQUIRE(of_it == binary);

  const OnCard<float> x(std::vector<float>(kTotal, 2)), y(std::vector<float>(kTotal, 3)),
      z(std::vector<float>(kTotal, 0));
  const SumArguments arguments{x.address(), y.address(), z.address(), kTotal, 128};
  const OnCard<std::uint64_t> place(std::vector<std::uint64_t>(4));
  OK(aclrtMemcpyAsync(place.address(), sizeof arguments, &arguments, sizeof arguments,
                      ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE, stream));
  OK(aclrtLaunchKernelV2(functions[1], 8, place.address(), sizeof arguments, nullptr, stream));
  OK(aclrtLaunchKernel(functions[1], 8, place.address(), sizeof arguments, stream));
  OK(aclrtSynchronizeStream(stream));
  REQUIRE(z.values() == std::vector<float>(kTotal, 5));
  read_late(functions[1], stream);
  OK(aclrtBinaryUnLoad(binary));
  OK(aclrtDestroyBinary(contents));
}

}  // namespace

int main() {
  OK(aclInit(nullptr));
  OK(aclrtSetDevice(0));
  aclrtStream stream = nullptr;
  OK(aclrtCreateStream(&stream));
  for (const std::uint32_t total : {16384U, 8U * 16, 8U * 4816}) {
    for (const std::uint32_t tile : {128U, 1024U}) {
      add<std::uint16_t>(
          "add_half", total, tile, [](int n) { return half_of(static_cast<float>(n) / 8); },
          stream);
      add<float>(
          "add_float", total, tile, [](int n) { return static_cast<float>(n) / 8; }, stream);
      add<std::int32_t>(
          "add_int", total, tile, [](int n) { return n * 10'000'007; }, stream);
    }
  }
  chain(1024, stream);
  chain(8 * 13, stream);
  rows(5, 13, 20, stream);
  rows(1, 8, 8, stream);
  from_memory(stream);
  listed(stream);
  aclrtBinHandle binary = nullptr;
  aclrtFuncHandle function = nullptr;
  OK(aclrtBinaryLoadFromFile("adds.o", nullptr, &binary));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtBinaryGetFunction(binary, "add_double", &function));
  std::puts(aclGetRecentErrMsg());
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtBinaryLoadFromFile("torn.o", nullptr, &binary));
  OK(aclrtDestroyStream(stream));
  OK(aclFinalize());
  std::puts("right");
}
