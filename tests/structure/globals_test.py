"""No global state: the program has no writable data of namespace pardec, a few known constants
aside.
"""

import re
import subprocess

# Function-local constants that are built at first use.
KNOWN = [
    r"::k[A-Z]\w*$",  # constants by name: g++ leaves some constexpr arrays of pointers in .data
    r"^guard variable for pardec::",
    r"^pardec::team\(\)::the_team$",  # the program's threads, as there is one processor
]
SECTIONS = (".data", ".bss", ".tdata", ".tbss")  # .data.rel.ro is constant once the loader is done


def test_the_program_has_no_writable_data(program):
    table = subprocess.run(
        ["objdump", "-tC", program("pardec")], capture_output=True, text=True, check=True
    ).stdout
    seen, found = 0, []
    for line in table.splitlines():
        match = re.match(r"^[0-9a-f]+ .{7} (\S+)\s+[0-9a-f]+\s+(?:\.hidden )?(.*)$", line)
        if not match or "pardec::" not in match[2]:
            continue
        seen += 1
        section, name = match[1], match[2]
        if section in SECTIONS and not any(re.search(known, name) for known in KNOWN):
            found.append(f"{section} {name}")
    assert seen > 0
    assert not found
