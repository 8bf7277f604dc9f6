#pragma once
#include <cstdint>

#include "src/chat/service.hpp"
#include "src/store/judgments.hpp"

// What `judge` and `data` share that ask a service for money.
namespace pardec {

/// With what was spent on it before, by this database.
chat::Service paid_service(Store& store, const NamedRecord& judge, const chat::ServiceSpec& service,
                           const chat::Budget& budget);

/// On stderr: how many answers came, and what the service cost in all.
void print_spent(Store& store, const NamedRecord& judge, const char* role, std::int64_t calls);

}  // namespace pardec
