# cmake -DFILE=page.css -DCPP=page_css.cpp -DHEADER=src/report/page_files.hpp -DFUNCTION=page_css -P embed.cmake: makes a C++ string from the file.
file(READ "${FILE}" text)
file(WRITE "${CPP}" "#include \"${HEADER}\"\n\nnamespace pardec {\n"
     "const char* ${FUNCTION}() {\n  return R\"pardec_text(${text})pardec_text\";\n}\n"
     "}  // namespace pardec\n")
