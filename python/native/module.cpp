// SPDX-License-Identifier: Apache-2.0
// The module npusim._npusim: what the package is made of. Its users see the package's classes,
// which have the documentation; nothing here is for them.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "python/native/card.hpp"
#include "python/native/graph.hpp"
#include "python/native/host_runtime.hpp"
#include "python/native/operators.hpp"
#include "python/native/session.hpp"
#include "python/native/stream.hpp"

namespace npu::python {
namespace {

namespace py = pybind11;

void bind_session(py::module_& module) {
  py::class_<Session, std::shared_ptr<Session>>(module, "Session")
      .def(py::init<const std::string&, const std::vector<std::string>&>())
      .def("close", &Session::close)
      .def("nothing", [](Session& self) { self.call([](platform::Platform&) {}); })
      .def("report", &Session::report)
      .def("record", &Session::record)
      .def("profile", &Session::profile)
      .def("open", &Card::open)
      .def_property_readonly("closed", &Session::closed)
      .def_property_readonly("ended", &Session::ended)
      .def_property_readonly("now", &Session::now)
      .def_property_readonly("cards", &Session::cards)
      .def_property_readonly("inside_ns", &Session::inside_ns)
      .def_property_readonly("calls", &Session::calls);
}

void bind_card(py::module_& module) {
  py::class_<Card, std::shared_ptr<Card>>(module, "Card")
      .def("close", &Card::close)
      .def("info", &Card::info)
      .def("allocate", &Card::allocate)
      .def("free", &Card::free)
      .def("write", &Card::write)
      .def("read", &Card::read)
      .def("set_firmware", &Card::set_firmware)
      .def("register_kernel", &Card::register_kernel)
      .def("unregister_kernel", &Card::unregister_kernel)
      .def("run",
           [](Card& self, const driver::TaskGraph& graph, unsigned block_dim, unsigned threads,
              std::string handshake, bool single_issue, bool profiling, unsigned pmu_group,
              bool dump_tensors, std::int64_t watchdog_ps, std::int64_t patience_ps) {
             return run_graph(self, graph,
                              {block_dim, threads, std::move(handshake), single_issue, profiling,
                               pmu_group, dump_tensors, watchdog_ps, patience_ps});
           })
      .def("last_run", &last_run)
      .def_property_readonly("closed", &Card::closed);
}

void bind_streams(py::module_& module) {
  py::class_<HostMemory, std::shared_ptr<HostMemory>>(module, "HostMemory", py::buffer_protocol())
      .def(py::init(&HostMemory::allocate))
      .def_property_readonly("bus", [](HostMemory& self) { return self.memory().bus().value; })
      .def_buffer([](HostMemory& self) {
        const auto bytes = self.memory().cpu();
        return py::buffer_info(reinterpret_cast<std::uint8_t*>(bytes.data),
                               static_cast<py::ssize_t>(bytes.size));
      });
  py::class_<Event, std::shared_ptr<Event>>(module, "Event")
      .def(py::init<std::shared_ptr<Card>>())
      .def_property_readonly("id", [](const Event& self) { return self.id().value; });
  py::class_<CopyTicket>(module, "Ticket")
      .def("done", &CopyTicket::done)
      .def("wait", &CopyTicket::wait)
      .def_property_readonly("submitted", &CopyTicket::submitted);
  py::class_<Stream, std::shared_ptr<Stream>>(module, "Stream")
      .def(py::init<std::shared_ptr<Card>, bool>())
      .def("submit", &Stream::submit)
      .def("close", &Stream::close)
      .def_property_readonly("id", &Stream::id);
}

}  // namespace
}  // namespace npu::python

PYBIND11_MODULE(_npusim, module) {
  npu::python::translate_failures();
  npu::python::bind_session(module);
  npu::python::bind_card(module);
  npu::python::bind_streams(module);
  npu::python::bind_graph(module);
  npu::python::bind_host_runtime(module);
  npu::python::bind_operators(module);
}
