#pragma once
#include <cstdint>

#include "src/chat/service.hpp"
#include "src/store/judgments.hpp"

// What `judge` and `data` share that ask a service for money.
namespace pardec {

/// With what was spent on it before, by this database.
chat::Service paid_service(Store& store, const NamedRecord& judge, const chat::ServiceSpec& service,
                           const chat::Budget& budget);

/// On stderr, where a stop is asked for: that what was sent is waited for, which may take as long
/// as the service's deadlines.
void print_stopping();

/// On stderr: how many answers came, and what the service cost in all.
void print_spent(Store& store, const NamedRecord& judge, const char* role, std::int64_t calls);

}  // namespace pardec
