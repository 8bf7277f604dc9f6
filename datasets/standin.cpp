#include "datasets/standin.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "datasets/dataset.hpp"
#include "src/support/choice_letters.hpp"
#include "src/support/files.hpp"
#include "src/support/json.hpp"
#include "src/support/rng.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

namespace fs = std::filesystem;

constexpr int kVocabulary = 3000, kSentence = 14;  // in words
constexpr std::int64_t kDocument = 1200;           // ids of one document of a patient
constexpr std::size_t kCategories = 10;            // categories of products
const char* const kShortWords[] = {"the", "of", "a", "in", "to", "and", "is", "for", "on", "as"};

struct Word {
  std::string text;
  std::int64_t ids;  // after a space
};

/// The words of a text, with the number of ids of each.
struct Words {
  std::vector<Word> words;
  std::string text(std::size_t from, std::size_t to) const {
    std::string out;
    for (std::size_t i = from; i < to; ++i) out += (i > from ? " " : "") + words[i].text;
    return out;
  }
  std::string text() const { return text(0, words.size()); }
};

/// Invents words, and texts with a given number of ids.
class Writer {
 public:
  Writer(std::uint64_t seed, const CountIds& count)
      : rng_(derive_seed(seed, "standin")), count_(count) {
    for (const char* word : kShortWords) words_.push_back({word, count(str(" ", word))});
    static constexpr std::string_view onsets = "bcdfghjklmnprstvwz", vowels = "aeiou",
                                      codas = "lmnrst";
    while (words_.size() < kVocabulary) {
      std::string word;
      for (std::uint64_t syllables = 1 + rng_.below(3); syllables > 0; --syllables) {
        word += onsets[rng_.below(onsets.size())];
        word += vowels[rng_.below(vowels.size())];
        if (rng_.below(3) == 0) word += codas[rng_.below(codas.size())];
      }
      const std::int64_t ids = count(" " + word);
      words_.push_back({std::move(word), ids});
    }
    shortest_ = words_[0];
    for (const Word& word : words_)
      if (word.ids < shortest_.ids) shortest_ = word;
    stop_ = std::max<std::int64_t>(1, count("a.") - count("a"));
  }

  /// The kind of a text. Words have several ids, so the length of a text may be off by some; the
  /// next text of the same kind makes up for this.
  enum class Kind { prose, line, answer };

  /// Words with about `ids` ids in total; at least one word. Prose has sentences that end with a
  /// full stop. An answer follows a space.
  Words text(std::int64_t ids, Kind kind) {
    const bool sentences = kind == Kind::prose, behind = kind == Kind::answer;
    Words out;
    std::int64_t& left = left_[static_cast<std::size_t>(kind)];
    left += ids;
    while (left >= shortest_.ids || out.words.empty()) {
      Word word = pick(left);
      if (out.words.empty() && !behind) word.ids = count_(word.text);
      left -= word.ids;
      out.words.push_back(std::move(word));
      if (sentences && out.words.size() % kSentence == 0 && left > stop_) {
        out.words.back().text += ".", out.words.back().ids += stop_;
        left -= stop_;
      }
    }
    return out;
  }
  std::string prose(std::int64_t ids) { return text(ids, Kind::prose).text(); }
  std::string line(std::int64_t ids) { return text(ids, Kind::line).text(); }
  std::string answer(std::int64_t ids) { return text(ids, Kind::answer).text(); }

  std::uint64_t below(std::uint64_t bound) { return rng_.below(bound); }

  /// `count` integers with this mean, from half to one and a half times the mean, in random order.
  std::vector<std::int64_t> spread(std::int64_t count, double mean, std::int64_t least = 1) {
    std::vector<std::int64_t> values;
    double owed = 0;  // accumulated rounding error
    for (std::int64_t i = 0; i < count; ++i) {
      const double share = (static_cast<double>(i) + 0.5) / static_cast<double>(count);
      owed += mean * (0.5 + share);
      values.push_back(std::max(least, static_cast<std::int64_t>(std::llround(owed))));
      owed -= static_cast<double>(values.back());
    }
    for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[rng_.below(i)]);
    return values;
  }

 private:
  const Word& pick(std::int64_t most) {
    for (int tries = 0; tries < 20; ++tries) {
      // Half of the words are short, as in English.
      const Word& word =
          words_[rng_.below(2) ? rng_.below(std::size(kShortWords)) : rng_.below(words_.size())];
      if (word.ids <= most) return word;
    }
    return shortest_;
  }

  Rng rng_;
  const CountIds& count_;
  std::vector<Word> words_;
  Word shortest_;
  std::int64_t stop_;
  std::array<std::int64_t, 3> left_{};  ///< missing ids per kind of text so far
};

/// The lengths of one text, its questions and answers.
struct Plan {
  std::int64_t context;
  std::vector<std::int64_t> questions, answers;
};

std::vector<Plan> plan(const StandinLengths& lengths, Writer& writer) {
  const auto contexts = writer.spread(lengths.examples, lengths.context);
  const auto fields = writer.spread(lengths.examples, lengths.fields);
  std::int64_t all = 0;
  for (const std::int64_t count : fields) all += count;
  const auto questions = writer.spread(all, lengths.question),
             answers = writer.spread(all, lengths.answer);
  std::vector<Plan> plans;
  std::size_t next = 0;
  for (std::size_t c = 0; c < contexts.size(); ++c) {
    Plan& made = plans.emplace_back(Plan{contexts[c], {}, {}});
    for (std::int64_t f = 0; f < fields[c]; ++f, ++next)
      made.questions.push_back(questions[next]), made.answers.push_back(answers[next]);
  }
  return plans;
}

/// A question and its choices, with a given total number of ids.
struct MadeChoices {
  std::string question;
  std::vector<std::string> choices;
};
MadeChoices choices_of(std::int64_t ids, int choices, Writer& writer) {
  MadeChoices made;
  const std::int64_t each = std::max<std::int64_t>(1, ids * 3 / 4 / choices);
  made.question = writer.line(ids - each * choices);
  for (int c = 0; c < choices; ++c) made.choices.push_back(writer.line(each));
  return made;
}

/// Writes the three files of NarrativeQA: `plans` are split test, `shown` split train.
void write_narrativeqa(const fs::path& folder, const std::vector<Plan>& plans,
                       const std::vector<Plan>& shown, Writer& writer) {
  std::string documents = "document_id,set,kind\n",
              summaries = "document_id,set,summary,summary_tokenized\n",
              questions =
                  "document_id,set,question,answer1,answer2,question_tokenized,"
                  "answer1_tokenized,answer2_tokenized\n";
  int number = 0;
  for (const auto& [split, made] : {std::pair{"test", &plans}, std::pair{"train", &shown}})
    for (const Plan& one : *made) {
      const std::string id = str("standin-", number, ",", split, ",");
      documents += str(id, number++ % 2 ? "movie" : "gutenberg", "\n");
      const std::string text = writer.prose(one.context);
      summaries += str(id, "\"", text, "\",\"", text, "\"\n");
      for (std::size_t q = 0; q < one.questions.size(); ++q) {
        const std::string question = writer.line(one.questions[q]),
                          answer = writer.answer(one.answers[q]),
                          other = writer.answer(one.answers[q]);
        questions += str(id, question, ",", answer, ",", other, ",", question, ",", answer, ",",
                         other, "\n");
      }
    }
  write_file(folder / "documents.csv", documents);
  write_file(folder / "summaries.csv", summaries);
  write_file(folder / "qaps.csv", questions);
}

/// Words of the text with approximately `ids` ids: their first and last index.
std::pair<std::size_t, std::size_t> find_piece(const Words& text, std::int64_t ids,
                                               Writer& writer) {
  std::pair<std::size_t, std::size_t> best{0, 1};
  std::int64_t least = -1;
  for (int tries = 0; tries < 40 && least != 0; ++tries) {
    const std::size_t begin = writer.below(text.words.size());
    std::int64_t sum = 0;
    std::size_t end = begin;
    while (end < text.words.size() && sum < ids) sum += text.words[end++].ids;
    const std::int64_t off = std::abs(sum - ids);
    if (least < 0 || off < least) least = off, best = {begin, end};
  }
  return best;
}

void write_squad(const fs::path& folder, const std::vector<Plan>& plans, Writer& writer,
                 const CountIds& count, double answer) {
  // Half of the questions have no answer, as in SQuAD 2.0. Their answer "null" counts in the mean
  // length.
  const double null = static_cast<double>(count(" null"));
  const double scale = std::max(1.0, (2 * answer - null) / answer);
  OrderedJson paragraphs = OrderedJson::array();
  std::int64_t number = 0;
  double owed = 0;
  for (const Plan& made : plans) {
    const Words text = writer.text(made.context, Writer::Kind::prose);
    OrderedJson qas = OrderedJson::array();
    for (std::size_t q = 0; q < made.questions.size(); ++q, ++number) {
      OrderedJson answers = OrderedJson::array();
      if (number % 2) {
        owed += scale * static_cast<double>(made.answers[q]);
        const auto wanted = static_cast<std::int64_t>(std::max(1LL, std::llround(owed)));
        const auto [begin, end] = find_piece(text, wanted, writer);
        for (std::size_t i = begin; i < end; ++i) owed -= static_cast<double>(text.words[i].ids);
        answers.push_back(
            {{"text", text.text(begin, end)},
             {"answer_start", begin == 0 ? 0 : text.text(0, begin).size() + 1}});  // ASCII only
      }
      qas.push_back({{"question", writer.line(made.questions[q])},
                     {"id", str("standin-", number)},
                     {"answers", answers},
                     {"is_impossible", number % 2 == 0}});
    }
    paragraphs.push_back({{"qas", qas}, {"context", text.text()}});
  }
  write_file(folder / "dev-v2.0.json",
             OrderedJson({{"version", "v2.0"},
                          {"data", OrderedJson::array({OrderedJson(
                                       {{"title", "Standin"}, {"paragraphs", paragraphs}})})}})
                 .dump());
}

void write_race(const fs::path& folder, const std::vector<Plan>& plans, Writer& writer) {
  for (const char* level : {"middle", "high"}) fs::create_directories(folder / "test" / level);
  for (std::size_t c = 0; c < plans.size(); ++c) {
    OrderedJson questions = OrderedJson::array(), options = questions, answers = questions;
    for (const std::int64_t ids : plans[c].questions) {
      const MadeChoices made = choices_of(ids, 4, writer);
      questions.push_back(made.question), options.push_back(made.choices);
      answers.push_back(choice_letter(static_cast<std::size_t>(writer.below(4))));
    }
    const std::string level = c % 4 ? "high" : "middle";
    write_file(folder / "test" / level / str(c, ".txt"),
               OrderedJson({{"answers", answers},
                            {"options", options},
                            {"questions", questions},
                            {"article", writer.prose(plans[c].context)},
                            {"id", str(level, c, ".txt")}})
                   .dump());
  }
}

void write_longhealth(const fs::path& folder, const std::vector<Plan>& plans, Writer& writer,
                      const CountIds& count) {
  const std::int64_t heading = count("\n\nDocument 1:\n");
  OrderedJson patients;
  for (std::size_t c = 0; c < plans.size(); ++c) {
    OrderedJson texts, questions = OrderedJson::array();
    for (std::int64_t left = plans[c].context; left > heading;) {
      const std::int64_t ids = std::min(kDocument, left) - heading;
      texts[str("text_", texts.size())] = writer.prose(ids);
      left -= ids + heading;
    }
    for (std::size_t q = 0; q < plans[c].questions.size(); ++q) {
      const MadeChoices made = choices_of(plans[c].questions[q], 5, writer);
      OrderedJson question({{"No", q}, {"question", made.question}});
      for (std::size_t i = 0; i < 5; ++i)  // distinct, so that exactly one is right
        question[str("answer_", static_cast<char>('a' + i))] = made.choices[i];
      question["correct"] = made.choices[writer.below(5)];
      questions.push_back(std::move(question));
    }
    patients[str("standin_", c)] = {{"name", "-"}, {"texts", texts}, {"questions", questions}};
  }
  write_file(folder / "benchmark_v5.json", patients.dump());
}

void write_amazon_reviews(const fs::path& folder, const std::vector<Plan>& plans,
                          std::int64_t attributes, Writer& writer, const CountIds& count) {
  fs::create_directories(folder / "attributes");
  const std::int64_t headings = count("Title: \nDescription: \nBullets:\n- \n- ");
  const auto categories = std::min(kCategories, plans.size());  // none is empty
  for (std::size_t category = 0; category < categories; ++category) {
    OrderedJson list = OrderedJson::array();
    for (std::int64_t a = 0; a < attributes; ++a)
      list.push_back({{"name", str("attribute ", a + 1)}, {"definition", writer.line(8)}});
    write_file(folder / "attributes" / str("Standin_", category, ".json"),
               OrderedJson({{"attributes", list}}).dump());
    write_file(folder / str("meta_Standin_", category, ".jsonl"), [&](const FileSink& put) {
      for (std::size_t p = category; p < plans.size(); p += categories) {
        const std::int64_t ids = std::max<std::int64_t>(8, plans[p].context - headings);
        const std::string line =
            OrderedJson({{"title", writer.line(ids / 8)},
                         {"features", {writer.line(ids / 8), writer.line(ids / 8)}},
                         {"description", {writer.prose(ids - 3 * (ids / 8))}},
                         {"parent_asin", str("STANDIN", p)}})
                .dump() +
            "\n";
        put(line.data(), line.size());
      }
    });
  }
}

}  // namespace

const std::vector<std::string_view>& standin_datasets() {
  static const std::vector<std::string_view> kNames = {"narrativeqa", "squad", "race", "longhealth",
                                                       "amazon-reviews"};
  return kNames;
}

void write_standin(std::string_view dataset, const fs::path& folder, const StandinLengths& lengths,
                   std::uint64_t seed, const CountIds& count, std::string_view tokenizer) {
  Writer writer(derive_seed(seed, dataset), count);
  const std::vector<Plan> plans = dataset == "amazon-reviews"
                                      // it has no questions of its own
                                      ? plan({lengths.examples, 0.1, lengths.context, 1, 1}, writer)
                                      : plan(lengths, writer);
  if (dataset == "narrativeqa")
    write_narrativeqa(
        folder, plans,
        plan({lengths.shots, 1, lengths.shot_context, lengths.question, lengths.answer}, writer),
        writer);
  if (dataset == "squad") write_squad(folder, plans, writer, count, lengths.answer);
  if (dataset == "race") write_race(folder, plans, writer);
  if (dataset == "longhealth") write_longhealth(folder, plans, writer, count);
  if (dataset == "amazon-reviews")
    write_amazon_reviews(folder, plans, std::llround(lengths.fields), writer, count);
  write_file(folder / kStandinNote,
             dump(OrderedJson({{"dataset", dataset},
                               {"note", "generated words of the published lengths; no real data"},
                               {"examples", lengths.examples},
                               {"fields", lengths.fields},
                               {"context_tokens", lengths.context},
                               {"question_tokens", lengths.question},
                               {"answer_tokens", lengths.answer},
                               {"seed", seed},
                               {"tokenizer", tokenizer}})) +
                 "\n");
}

}  // namespace pardec
