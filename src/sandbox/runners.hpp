#pragma once

/// The Python code of the two processes of a PythonSandbox. Both processes read messages from
/// descriptor 3 and write messages to descriptor 4. A message is JSON text after its length in
/// bytes, which is written as 8 hex digits. The tests' process sends calls, and the program's
/// process sends replies. Both processes read their input from stdin. The input of the program's
/// process is PythonTask::program. The input of the tests' process is a JSON list:
/// PythonTask::head, then PythonTask::test.
namespace pardec {

/// The first part of the code of both processes. Values are sent as JSON, and recreated as objects
/// of Python's own types, so that they contain no code of the other process.
inline constexpr const char* kTransport = R"py(
import json, os, sys

LONGEST = 1 << 24

class CannotTravel(TypeError):
    pass

def send(message):
    data = json.dumps(message).encode()
    if len(data) > LONGEST:
        raise CannotTravel("more than 16 MB in one call")
    data = b"%08x" % len(data) + data
    while data:
        data = data[os.write(4, data):]

def receive():
    def exactly(size):
        parts = bytearray()
        while len(parts) < size:
            part = os.read(3, size - len(parts))
            if not part:
                raise EOFError
            parts += part
        return bytes(parts)
    size = int(exactly(8), 16)
    if not 0 < size <= LONGEST:
        raise ValueError("a message of another length")
    return json.loads(exactly(size))

def encode(value):
    if value is None or isinstance(value, (bool, float, str)):
        return value
    if isinstance(value, int):
        return int(value) if value.bit_length() < 64 else {"int": hex(value)}
    if isinstance(value, list):
        return [encode(item) for item in value]
    for kind in (tuple, set, frozenset):
        if isinstance(value, kind):
            return {kind.__name__: [encode(item) for item in value]}
    if isinstance(value, dict):
        return {"dict": [[encode(key), encode(item)] for key, item in value.items()]}
    if isinstance(value, (bytes, bytearray)):
        return {"bytes": value.hex()}
    if isinstance(value, complex):
        return {"complex": [value.real, value.imag]}
    if type(value).__name__ == "Fraction":
        return {"Fraction": [encode(value.numerator), encode(value.denominator)]}
    if type(value).__name__ == "Decimal":
        return {"Decimal": str(value)}
    raise CannotTravel(f"a value of type {type(value).__name__}, expected plain values")

def decode(message):
    if isinstance(message, list):
        return [decode(item) for item in message]
    if not isinstance(message, dict):
        return message
    (kind, value), = message.items()
    if kind == "int":
        return int(value, 16)
    if kind == "bytes":
        return bytes.fromhex(value)
    if kind == "complex":
        return complex(*value)
    if kind == "Fraction":
        import fractions
        return fractions.Fraction(*decode(value))
    if kind == "Decimal":
        import decimal
        return decimal.Decimal(value)
    return {"tuple": tuple, "set": set, "frozenset": frozenset, "dict": dict}[kind](decode(value))

def describe(error):
    try:
        said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    except BaseException:
        said = "an exception without text"
    return " ".join(said.split())[:1000]
)py";

/// The rest of the code of the program's process: runs the program, then answers calls of its
/// functions.
inline constexpr const char* kProgramRunner = R"py(
def serve():
    send("started")
    source = sys.stdin.buffer.read()
    scope = {}  # as HumanEval has it: its __name__ is "builtins", and what stands under "__main__" does not run
    def answer(work):
        try:
            send({"returned": encode(work())})
        except BaseException as error:
            send({"raised": type(error).__name__, "text": describe(error)})
    answer(lambda: exec(compile(source, "<program>", "exec"), scope))
    while True:
        name, arguments, named = receive()
        answer(lambda: scope[name](*decode(arguments), **decode(named)))
try:
    serve()
except EOFError:
    pass
)py";

/// The rest of the code of the tests' process. If the tests call a function that the program must
/// define, the call is sent to the program's process. The tests' process writes to descriptor 5:
/// first the line `started`, and at the end a word, a space and a reason, which may be empty. The
/// word is `passed`; `failed`; `task` (the tests cannot be run); `unready` (the program's process
/// did not start); or `gone` (the program's process ended too early).
inline constexpr const char* kJudgeRunner = R"py(
import builtins, random

class ProgramError(Exception):
    pass

class Gone(BaseException):
    pass

def end(verdict, reason=""):
    os.write(5, f"{verdict} {str(reason)[:1000]}".encode(errors="replace"))
    os._exit(0)

def reply():
    try:
        return receive()
    except EOFError:
        raise Gone from None

def error_of(answer):
    """The program's exception, recreated. It becomes a ProgramError if it cannot be recreated, is
    a warning, or would end a loop of the tests (StopIteration)."""
    kind = getattr(builtins, answer["raised"], None) if isinstance(answer["raised"], str) else None
    good = isinstance(kind, type) and issubclass(kind, Exception)
    if good and not issubclass(kind, (StopIteration, StopAsyncIteration, Warning)):
        try:
            return kind(answer["text"].partition(": ")[2])
        except TypeError:
            pass
    return ProgramError(answer["text"])

def value_of(answer):
    if answer.keys() == {"returned"}:
        return decode(answer["returned"])
    raise error_of(answer)

def calling(name):
    def call(*arguments, **named):
        try:
            message = [name, encode(arguments)["tuple"], encode(named)]
        except CannotTravel as error:
            end("task", f"the tests give {name} {error}")
        try:
            send(message)
        except BrokenPipeError:
            raise Gone from None
        return value_of(reply())
    call.__name__ = name
    return call

def functions(head):
    """Those that the program is to define: without a body in the task's text, or the last one."""
    import ast
    found = [node for node in ast.parse(head).body if isinstance(node, ast.FunctionDef)]
    def bare(node):
        return all(isinstance(part, (ast.Pass, ast.Import, ast.ImportFrom)) or
                   isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant) for part in node.body)
    return [node.name for node in found if bare(node) or node is found[-1]]

def judge():
    os.write(5, b"started\n")
    try:
        if reply() != "started":
            raise Gone
    except Gone:
        end("unready")
    head, test = json.loads(sys.stdin.buffer.read())
    scope = {"__name__": "__main__"}
    try:
        try:
            names = functions(head)
        except SyntaxError:
            head += "\n    pass\n"
            names = functions(head)
        exec(compile(head, "<task>", "exec"), scope)
        tests = compile(test, "<tests>", "exec")
    except Exception as error:
        end("task", describe(error))
    if test.strip() and not names:
        end("task", "its text has no function for the tests to call")
    scope.update((name, calling(name)) for name in names)
    random.seed(0)
    try:
        answer = reply()
        if "returned" not in answer:
            end("failed", answer["text"])
        exec(tests, scope)
    except Gone:
        end("gone")
    except ProgramError as error:
        end("failed", str(error))
    except BaseException as error:
        end("failed", describe(error))
    end("passed")
judge()
)py";

}  // namespace pardec
