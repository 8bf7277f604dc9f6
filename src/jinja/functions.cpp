#include "src/jinja/functions.hpp"

#include "src/jinja/members.hpp"
#include "src/support/text.hpp"

namespace pardec::jinja {

Dict dict_of(const Arguments& arguments) {
  if (arguments.positional().size() > 1)
    throw Fault{str(arguments.callee(), " has several arguments without names, expected one")};
  Dict dict;
  if (!arguments.positional().empty()) {
    const Value& given = arguments.positional().front();
    arguments.budget().take(given.breadth(), given.weight());
    if (given.dict()) {
      dict = *given.dict();
    } else {
      for (const Value& pair : iterate(given, arguments.budget())) {
        const Values parts = iterate(pair, arguments.budget());
        if (parts.size() != 2) throw Fault{str(arguments.callee(), ": an item is no pair")};
        dict.set(parts[0], parts[1]);
      }
    }
  }
  for (const auto& [name, value] : arguments.named()) dict.set(name, value);
  return dict;
}

namespace {

Value range(const Arguments& arguments) {
  arguments.check(3, {});
  const auto bound = [&](size_t i) { return arguments.get(i, "bound").whole("a range's bound"); };
  const size_t given = arguments.positional().size();
  const Value made =
      make_range(given > 1 ? bound(0) : 0, bound(given > 1 ? 1 : 0), given > 2 ? bound(2) : 1);
  arguments.budget().take(made.breadth());
  return made;
}

Value raise_exception(const Arguments& arguments) {
  const Value message = arguments.get(0, "message");
  arguments.budget().take(message.weight());
  throw Fault{str("the template refuses this: ", to_text(message))};
}

Value strftime(const Arguments& arguments, const std::tm& now) {
  arguments.check(1, {"format"});
  const Value given = arguments.get(0, "format");
  arguments.budget().take(20, given.weight());
  const std::string format = to_text(given);
  if (format.empty()) return "";
  std::string text(format.size() * 20 + 100, '\0');
  text.resize(std::strftime(text.data(), text.size(), format.c_str(), &now));
  return text;
}

/// Returns its items in turn.
Value cycler(const Arguments& arguments) {
  if (arguments.positional().empty()) throw Fault{"cycler has no items"};
  arguments.check(arguments.positional().size(), {});
  const Values& items = arguments.positional();
  const auto at = std::make_shared<size_t>(0);
  const auto method = [](const char* name, std::function<Value()> act) {
    return make_callable(name, [act = std::move(act)](const Arguments& given) {
      given.check(0, {});
      return act();
    });
  };
  return make_callable(
      "cycler", [](const Arguments&) -> Value { throw Fault{"a cycler is called by its next()"}; },
      [=](std::string_view name) -> std::optional<Value> {
        if (name == "current") return items[*at];
        if (name == "next")
          return method("cycler.next", [=] {
            const Value& now = items[*at];
            *at = (*at + 1) % items.size();
            return now;
          });
        if (name == "reset")
          return method("cycler.reset", [=] {
            *at = 0;
            return Value();
          });
        return std::nullopt;
      });
}

/// Returns nothing at the first call, then the separator.
Value joiner(const Arguments& arguments) {
  arguments.check(1, {"sep"});
  const Value between = arguments.get(0, "sep", ", ");
  const auto used = std::make_shared<bool>(false);
  return make_callable("joiner", [=](const Arguments& given) {
    given.check(0, {});
    return std::exchange(*used, true) ? between : Value("");
  });
}

}  // namespace

void add_functions(std::map<std::string, Value>& names, const std::tm& now) {
  const auto add = [&](const char* name, std::function<Value(const Arguments&)> call) {
    names[name] = make_callable(name, std::move(call));
  };
  add("range", range);
  add("cycler", cycler);
  add("joiner", joiner);
  add("raise_exception", raise_exception);
  add("strftime_now", [now](const Arguments& arguments) { return strftime(arguments, now); });
  names["dict"] = make_callable(
      "dict", [](const Arguments& arguments) { return make_dict(dict_of(arguments)); },
      [](std::string_view name) {
        return name == "fromkeys" ? std::optional(make_callable("dict.fromkeys", dict_from_keys))
                                  : std::nullopt;
      });
}

}  // namespace pardec::jinja
