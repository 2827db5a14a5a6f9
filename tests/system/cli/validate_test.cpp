// SPDX-License-Identifier: Apache-2.0
// npusim validate, as a user calls it.
#include <nlohmann/json.hpp>

#include "tests/system/cli/program.hpp"

namespace npu::cli {
namespace {

class Validate : public Program {
 protected:
  void SetUp() override {
    write("rows.csv",
          "id,sku,op,shape,dtype,attrs,metric,value,unit,l2,note\n"
          "small,910B2,gelu,[[64]],float16,,task_duration,3,us,cold,\n"
          "again,910B2,gelu,[[64]],float16,,task_duration,0.004,ms,cold,\n"
          "product,910B2,matmul,m=64 n=64 k=64,float16,,task_duration,2,us,warm,\n"
          "other,910B2,topk,[[64]],float16,,task_duration,3,us,cold,\n");
  }
  nlohmann::json report() const { return nlohmann::json::parse(text("report.json")); }
  double metric(const std::string& name) const {
    const auto written = report();
    for (const auto& each : written.at("metrics")) {
      if (each.at("name") == name) return each.at("value");
    }
    ADD_FAILURE() << name;
    return 0;
  }
};

TEST_F(Validate, RowsAreComparedWithTheirRuns) {
  const auto result = npusim({"validate", "rows.csv", "--report", "report.json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(metric("validate.rows_run"), 3);
  EXPECT_EQ(metric("validate.rows_skipped"), 1);
  EXPECT_NE(result.out.find("no such operator"), std::string::npos);
  ASSERT_EQ(npusim({"--config", "910b2", "run", "vector_operator", "--set", "elements=64", "--set",
                    "functional=off", "--report", "run.json"})
                .exit_code,
            0);
  const auto run = nlohmann::json::parse(text("run.json"));
  const double us = run.at("metrics").at(0).at("value");
  const double expected = (std::abs(us / 3 - 1) + std::abs(us / 4 - 1)) / 2 * 100;
  EXPECT_NEAR(metric("validate.910B2.gelu.mape_percent"), expected, 0.002);
}

TEST_F(Validate, AKeyOfTheConfigurationIsSetForEveryRow) {
  ASSERT_EQ(npusim({"validate", "rows.csv", "--report", "plain.json"}).exit_code, 0);
  ASSERT_EQ(
      npusim({"validate", "rows.csv", "--set", "aicore.clock_mhz=900", "--report", "slow.json"})
          .exit_code,
      0);
  const auto bias = [this](const char* file) {
    const auto written = nlohmann::json::parse(text(file));
    for (const auto& each : written.at("metrics")) {
      if (each.at("name") == "validate.bias_percent") return each.at("value").get<double>();
    }
    return 0.0;
  };
  EXPECT_GT(bias("slow.json"), bias("plain.json") + 1);
}

// A run is a process called npusim, which looked for what is beside it by that name.
TEST_F(Validate, AFileCalledNpusimInTheFolderChangesNothing) {
  write("rows.csv",
        "id,sku,op,shape,dtype,attrs,metric,value,unit,l2,note\n"
        "one,910B2,softmax,\"[[16, 64]]\",float32,,task_duration,3,us,cold,\n");
  ASSERT_EQ(npusim({"validate", "rows.csv", "--report", "report.json"}).exit_code, 0);
  ASSERT_EQ(metric("validate.rows_run"), 1);
  const auto plain = text("report.json");
  write("npusim", "");
  ASSERT_EQ(npusim({"validate", "rows.csv", "--report", "report.json"}).exit_code, 0);
  EXPECT_EQ(text("report.json"), plain);
}

TEST_F(Validate, AKeyThatThereIsNotIsBadInput) {
  const auto result = npusim({"validate", "rows.csv", "--set", "hbm.no_such_key=1"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.err.find("npusim: --set: hbm.no_such_key: neither"), 0U) << result.err;
}

TEST_F(Validate, OneProcessAndTwoGiveTheSameBytes) {
  ASSERT_EQ(npusim({"validate", "rows.csv", "--jobs", "1", "--report", "one.json"}).exit_code, 0);
  ASSERT_EQ(npusim({"validate", "rows.csv", "--jobs", "2", "--report", "two.json"}).exit_code, 0);
  EXPECT_EQ(text("one.json"), text("two.json"));
}

TEST_F(Validate, RunsThatAreThereAreNotMadeAgain) {
  const std::vector<std::string> command{"validate", "rows.csv", "--output", "kept"};
  const auto first = npusim(command);
  ASSERT_EQ(first.exit_code, 0) << first.err;
  const auto again = npusim(command);
  EXPECT_EQ(again.out, first.out);
  EXPECT_NE(first.err.find("2 of 2 done"), std::string::npos) << first.err;
  EXPECT_EQ(again.err, "");
}

TEST_F(Validate, ARunThatFailsIsNamedAndTheOthersCount) {
  write("large.csv",
        "id,sku,op,shape,dtype,metric,value,unit\n"
        "huge,910B2,gelu,[[1000000000000]],float16,task_duration,3,us\n"
        "good,910B2,gelu,[[64]],float16,task_duration,3,us\n");
  const auto result = npusim({"validate", "large.csv", "--report", "report.json"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(metric("validate.rows_run"), 1);
  EXPECT_NE(result.out.find("huge"), std::string::npos);
  EXPECT_NE(result.out.find("elements"), std::string::npos) << "the reason";
}

TEST_F(Validate, WrongFilesAreRefused) {
  expect_refused({"validate"}, "validate: give a file of measurements");
  write("empty.csv", "");
  expect_refused({"validate", "empty.csv"}, "empty.csv: an empty file");
  write("wrong.csv", "id,sku\n1,2\n");
  expect_refused({"validate", "wrong.csv"}, "wrong.csv:2: no column 'op'");
  expect_refused({"validate", "rows.csv", "--jobs", "0"}, "--jobs: found '0'; allowed: 1..4096");
}

}  // namespace
}  // namespace npu::cli
