// Answers to problems in mathematics: each case worked out by hand.
#include "metrics/maths_answer.hpp"

#include "tests/support/catch.hpp"

using namespace pardec;

TEST_CASE("the last box of a text is its answer", "[metrics]") {
  CHECK(boxed("so \\boxed{7}.") == "7");
  CHECK(boxed("first \\boxed{3}, then $\\boxed{\\frac{1}{2}}$") == "\\frac{1}{2}");
  CHECK(boxed("\\boxed{\\{1, 2\\}}") == "\\{1, 2\\}");
  CHECK(boxed("\\fbox{12}") == "12");
  CHECK(boxed("\\boxed {5}") == "5");
  CHECK(boxed("the answer is 7") == std::nullopt);
  CHECK(boxed("\\boxed{7") == std::nullopt);
  CHECK(boxed("\\boxed{}") == "");
}

TEST_CASE("equal answers, however they are written", "[metrics]") {
  const auto [a, b] = GENERATE(table<const char*, const char*>({
      {"7", "7"},
      {"7", " 7. "},
      {"7", "7.0"},
      {"\\frac{1}{2}", "1/2"},
      {"\\frac{1}{2}", "0.5"},
      {"\\frac12", "\\dfrac{1}{2}"},
      {"\\tfrac{3}{4}", ".75"},
      {"-\\frac{3}{4}", "\\frac{-3}{4}"},
      {"2\\frac{1}{3}", "\\frac{7}{3}"},
      {"\\frac{2}{4}", "\\frac{1}{2}"},
      {"\\sqrt{2}", "\\sqrt2"},
      {"3\\sqrt{2}", "\\sqrt{18}"},
      {"\\frac{\\sqrt{3}}{3}", "\\frac{1}{\\sqrt{3}}"},
      {"\\sqrt[3]{8}", "2"},
      {"2^{10}", "1024"},
      {"10^{-2}", "0.01"},
      {"1,000", "1000"},
      {"1{,}000", "1000"},
      {"1,234,567", "1234567"},
      {"10\\!\\,000", "10000"},
      {"-1,200", "-1200"},
      {"\\pi", "\\pi "},
      {"2\\pi", "\\pi \\cdot 2"},
      {"\\frac{\\pi}{4}", "\\pi/4"},
      {"5\\text{ cm}", "5"},
      {"5 \\text{ cm}^2", "5"},
      {"12 square units", "12"},
      {"90^\\circ", "90"},
      {"90^{\\circ}", "90 \\text{ degrees}"},
      {"50\\%", "50"},
      {"\\$3.50", "3.5"},
      {"$42$", "42"},
      {"x = 5", "5"},
      {"y=\\frac{1}{3}", "1/3"},
      {"f(x) = 2x", "2x"},
      {"\\text{Evelyn}", "Evelyn"},
      {"\\text{(B)}", "(B)"},
      {"\\mathrm{even}", "Even"},
      {"(3, 4)", "(3,4)"},
      {"\\left( 3, \\frac{\\pi}{2} \\right)", "(3, \\pi/2)"},
      {"(\\frac{1}{2}, 2]", "(0.5, 2]"},
      {"(-\\infty, 3)", "(-\\infty,3)"},
      {"\\{1, 2, 3\\}", "\\{3, 1, 2\\}"},
      {"1, -2", "-2, 1"},
      {"1 \\pm \\sqrt{2}", "1+\\sqrt{2}, 1-\\sqrt{2}"},
      {"2x + 2", "2(x+1)"},
      {"x^2 + 2x + 1", "(x+1)^2"},
      {"x^{2}-1", "(x-1)(x+1)"},
      {"\\frac{x}{2}", "\\frac{1}{2}x"},
      {"3a + b", "b + 3a"},
      {"2 + 3i", "3i+2"},
      {"11\\sqrt{2}", "11 \\sqrt{2}"},
      {"\\begin{pmatrix} 1 \\\\ 2 \\end{pmatrix}", "\\begin{pmatrix}1\\\\2\\end{pmatrix}"},
      {"6 - 5i", "6-5i"},
      {"\\dfrac{14}{3}", "14/3"},
      {"0.\\overline{3}", "0.\\overline{3}"},
      {"4210_{5}", "4210_{5}"},
      {"3 hours", "3"},
      {"5:30", "5:30"},
      {"x \\le 2", "x \\leq 2"},
      {"16\\sqrt{3} \\text{ inches}", "16\\sqrt{3}"},
  }));
  INFO(a << " and " << b);
  CHECK(same_maths_answer(a, b));
  CHECK(same_maths_answer(b, a));
}

TEST_CASE("other answers", "[metrics]") {
  const auto [a, b] = GENERATE(table<const char*, const char*>({
      {"7", "8"},
      {"7", ""},
      {"", ""},
      {"\\frac{1}{2}", "\\frac{1}{3}"},
      {"\\frac{1}{3}", "0.33"},
      {"\\sqrt{2}", "1.414"},
      {"\\sqrt{2}", "2"},
      {"-7", "7"},
      {"(3, 4)", "(4, 3)"},
      {"(3, 4)", "[3, 4]"},
      {"(3, 4]", "(3, 4)"},
      {"(3, 4)", "\\{3, 4\\}"},
      {"\\{1, 2\\}", "\\{1, 2, 2\\}"},
      {"1, 2", "1, 3"},
      {"1, 2, 3", "123"},
      {"12", "1,2"},
      {"2x", "3x"},
      {"2x", "2y"},
      {"x^2", "2x"},
      {"(x+1)^2", "x^2+1"},
      {"\\text{odd}", "\\text{even}"},
      {"\\text{east}", "\\text{seat}"},
      {"east", "seat"},
      {"\\text{(A)}", "\\text{(B)}"},
      {"2 + 3i", "3 + 2i"},
      {"4210_{5}", "4210_{6}"},
      {"x \\le 2", "x \\ge 2"},
      {"x = 5", "x \\ne 5"},
      {"10", "100"},
      {"1\\frac{1}{2}", "\\frac{1}{2}"},
      {"2^{10}", "210"},
      {"\\pi", "3.14"},
  }));
  INFO(a << " and " << b);
  CHECK_FALSE(same_maths_answer(a, b));
  CHECK_FALSE(same_maths_answer(b, a));
}

TEST_CASE("texts of others neither stop the comparison nor exhaust it", "[metrics]") {
  for (const std::string& text :
       {std::string(10000, '('), std::string(3000, '{'), std::string(3000, '-'),
        std::string("\\frac"), std::string("\\frac{"), std::string("\\sqrt["), std::string("^"),
        std::string("1/0"), std::string("\\"), std::string("\\text{"), std::string("=,=,="),
        std::string("\xff\xfe"), std::string(3000, ',')})
    CHECK_FALSE(same_maths_answer(text, "7"));
}
