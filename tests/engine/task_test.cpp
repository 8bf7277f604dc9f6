// Tasks without an engine: a gate stands for the forward pass.
#include "src/engine/task.hpp"

#include <deque>
#include <stdexcept>
#include <string>

#include "tests/support/catch.hpp"

using namespace pardec;

namespace {

/// Coroutines wait here until they are released, in order of arrival. One that is destroyed leaves
/// the queue.
class Gate {
 public:
  struct Awaiter {
    explicit Awaiter(Gate& g) : gate(g) {}
    Awaiter(const Awaiter&) = delete;
    ~Awaiter() { std::erase(gate.waiting_, this); }
    bool await_ready() const { return false; }
    void await_suspend(std::coroutine_handle<> h) {
      handle = h;
      gate.waiting_.push_back(this);
    }
    void await_resume() {}
    Gate& gate;
    std::coroutine_handle<> handle;
  };
  Awaiter pass() { return Awaiter(*this); }
  size_t waiting() const { return waiting_.size(); }
  void let_one() {
    Awaiter* first = waiting_.front();
    waiting_.pop_front();
    first->handle.resume();
  }
  void let_all() {
    while (!waiting_.empty()) let_one();
  }

 private:
  std::deque<Awaiter*> waiting_;
};

/// Counts the living objects: a leaked frame keeps its own.
struct Alive {
  explicit Alive(int& c) : count(c) { ++count; }
  ~Alive() { --count; }
  Alive(const Alive&) = delete;
  int& count;
};

struct World {
  Gate gate;
  int alive = 0;
  std::string log;
};

Task<int> child(World& world, int name, int passes, bool fails) {
  const Alive alive(world.alive);
  world.log += "s" + std::to_string(name) + " ";
  for (int i = 0; i < passes; ++i) co_await world.gate.pass();
  if (fails) throw std::runtime_error("child " + std::to_string(name));
  world.log += "e" + std::to_string(name) + " ";
  co_return name;
}

struct Plan {
  int passes;
  bool fails = false;
};

Task<std::vector<int>> parent(World& world, std::vector<Plan> plans) {
  const Alive alive(world.alive);
  std::vector<Task<int>> tasks;
  for (size_t i = 0; i < plans.size(); ++i)
    tasks.push_back(child(world, static_cast<int>(i), plans[i].passes, plans[i].fails));
  std::vector<int> names = co_await all(std::move(tasks));
  world.log += "all ";
  co_return names;
}

Task<std::vector<int>> catching(World& world, std::vector<Plan> plans) {
  std::string caught;
  try {
    co_return co_await parent(world, plans);
  } catch (const std::runtime_error& error) {
    caught = error.what();
  }
  world.log += "caught " + caught + " ";
  std::vector<Plan> again{{1}, {1}};
  co_return co_await parent(world, again);
}

}  // namespace

TEST_CASE("a task starts when it is told to, and returns its value") {
  World world;
  Task<int> task = child(world, 7, 2, false);
  CHECK(world.log == "");
  CHECK(!task.done());
  task.start();
  CHECK(world.log == "s7 ");
  world.gate.let_all();
  CHECK(task.done());
  CHECK(task.result() == 7);
}

TEST_CASE("parallel tasks: started in order, results in order, whichever ends first") {
  World world;
  Task<std::vector<int>> task = parent(world, {{3}, {1}, {0}, {2}});
  task.start();
  CHECK(world.log == "s0 s1 s2 e2 s3 ");
  CHECK(world.gate.waiting() == 3);
  world.gate.let_all();
  CHECK(world.log == "s0 s1 s2 e2 s3 e1 e3 e0 all ");
  REQUIRE(task.done());
  CHECK(task.result() == std::vector<int>{0, 1, 2, 3});
  task = {};
  CHECK(world.alive == 0);
}

TEST_CASE("no tasks, and tasks that never wait, end at once") {
  World world;
  Task<std::vector<int>> none = parent(world, {});
  none.start();
  REQUIRE(none.done());
  CHECK(none.result().empty());
  Task<std::vector<int>> quick = parent(world, {{0}, {0}});
  quick.start();
  REQUIRE(quick.done());
  CHECK(quick.result() == std::vector<int>{0, 1});
}

TEST_CASE("a child's exception cancels its siblings and reaches the parent") {
  World world;
  Task<std::vector<int>> task = parent(world, {{5}, {1, true}, {5}});
  task.start();
  CHECK(world.alive == 4);
  world.gate.let_one();  // child 0 still waits
  world.gate.let_one();  // child 1 fails
  REQUIRE(task.done());
  CHECK(world.gate.waiting() == 0);  // the siblings have withdrawn
  CHECK(world.alive == 0);           // and are gone, like the content of the parent's own frame
  CHECK_THROWS_WITH(task.result(), "child 1");
  CHECK(world.log == "s0 s1 s2 ");
}

TEST_CASE(
    "a child that fails before it waits: later siblings never start, earlier ones are cancelled") {
  World world;
  Task<std::vector<int>> task = parent(world, {{1}, {0, true}, {1}});
  task.start();
  REQUIRE(task.done());
  CHECK(world.log == "s0 s1 ");
  CHECK(world.gate.waiting() == 0);
  CHECK_THROWS_WITH(task.result(), "child 1");
  CHECK(world.alive == 0);
}

TEST_CASE("the first of several exceptions is thrown") {
  World world;
  Task<std::vector<int>> task = parent(world, {{2, true}, {1, true}, {1, true}});
  task.start();
  world.gate.let_all();
  REQUIRE(task.done());
  CHECK_THROWS_WITH(task.result(), "child 1");
}

TEST_CASE("a parent may catch an exception, and continue with new children") {
  World world;
  Task<std::vector<int>> task = catching(world, {{3}, {1, true}});
  task.start();
  world.gate.let_all();
  REQUIRE(task.done());
  CHECK(task.result() == std::vector<int>{0, 1});
  CHECK(world.log == "s0 s1 caught child 1 s0 s1 e0 e1 all ");
  CHECK(world.alive == 0);
}

TEST_CASE("destroying a root frees its tree at any point") {
  World world;
  {
    Task<std::vector<int>> never = parent(world, {{1}, {1}});
    CHECK(world.alive == 0);
  }
  {
    Task<std::vector<int>> waiting = parent(world, {{2}, {3}, {0}});
    waiting.start();
    world.gate.let_one();
    CHECK(world.alive == 3);  // the parent and two children; the third has ended
  }
  CHECK(world.alive == 0);
  CHECK(world.gate.waiting() == 0);
  {
    Task<std::vector<int>> nested = catching(world, {{3}, {1, true}});
    nested.start();
    world.gate.let_one();
    world.gate.let_one();  // in the second pair of children now
    CHECK(world.alive == 3);
  }
  CHECK(world.alive == 0);
}

TEST_CASE("a task may be moved, and replaced while it waits") {
  World world;
  Task<int> first = child(world, 1, 1, false), second = child(world, 2, 1, false);
  first.start();
  second.start();
  first = std::move(second);  // destroys child 1 where it waits
  CHECK(world.alive == 1);
  CHECK(world.gate.waiting() == 1);
  world.gate.let_all();
  REQUIRE(first.done());
  CHECK(first.result() == 2);
}
