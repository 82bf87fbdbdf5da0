/*
 * Short lists of function words: articles, pronouns, prepositions, conjunctions, auxiliaries and the pieces an
 * apostrophe leaves behind. Case-folded, as the cutter folds (so German "dass", not "daß").
 */
#include "io/stopwords.h"

#include <string.h>

static const char *const english[] = {
    "a",          "about",    "above",      "across",     "after",     "afterwards", "again",        "against",
    "ain",        "all",      "almost",     "alone",      "along",     "already",    "also",         "although",
    "always",     "am",       "among",      "amongst",    "an",        "and",        "another",      "any",
    "anyhow",     "anyone",   "anything",   "anyway",     "anywhere",  "are",        "aren",         "aren't",
    "around",     "as",       "at",         "be",         "became",    "because",    "become",       "becomes",
    "been",       "before",   "beforehand", "behind",     "being",     "below",      "beside",       "besides",
    "between",    "beyond",   "both",       "but",        "by",        "can",        "can't",        "cannot",
    "could",      "couldn",   "couldn't",   "did",        "didn",      "didn't",     "do",           "does",
    "doesn",      "doesn't",  "doing",      "don",        "don't",     "done",       "down",         "during",
    "each",       "either",   "else",       "elsewhere",  "enough",    "etc",        "even",         "ever",
    "every",      "everyone", "everything", "everywhere", "except",    "few",        "for",          "former",
    "formerly",   "from",     "further",    "had",        "hadn",      "hadn't",     "has",          "hasn",
    "hasn't",     "have",     "haven",      "haven't",    "having",    "he",         "hence",        "her",
    "here",       "hereby",   "herein",     "hers",       "herself",   "him",        "himself",      "his",
    "how",        "however",  "i",          "if",         "in",        "indeed",     "into",         "is",
    "isn",        "isn't",    "it",         "it's",       "its",       "itself",     "just",         "latter",
    "least",      "less",     "let",        "ll",         "many",      "may",        "me",           "meanwhile",
    "might",      "mine",     "more",       "moreover",   "most",      "mostly",     "much",         "must",
    "mustn",      "my",       "myself",     "namely",     "neither",   "never",      "nevertheless", "next",
    "no",         "nobody",   "none",       "nor",        "not",       "nothing",    "now",          "nowhere",
    "of",         "off",      "often",      "on",         "once",      "one",        "only",         "onto",
    "or",         "other",    "others",     "otherwise",  "our",       "ours",       "ourselves",    "out",
    "over",       "own",      "per",        "perhaps",    "quite",     "rather",     "re",           "s",
    "same",       "several",  "shall",      "she",        "should",    "shouldn",    "shouldn't",    "since",
    "so",         "some",     "somehow",    "someone",    "something", "sometime",   "sometimes",    "somewhere",
    "still",      "such",     "t",          "than",       "that",      "that's",     "the",          "their",
    "theirs",     "them",     "themselves", "then",       "thence",    "there",      "thereafter",   "thereby",
    "therefore",  "therein",  "these",      "they",       "this",      "those",      "though",       "through",
    "throughout", "thus",     "to",         "together",   "too",       "toward",     "towards",      "under",
    "until",      "up",       "upon",       "us",         "ve",        "very",       "via",          "was",
    "wasn",       "wasn't",   "we",         "well",       "were",      "weren",      "weren't",      "what",
    "whatever",   "when",     "whence",     "whenever",   "where",     "whereas",    "whereby",      "wherein",
    "wherever",   "whether",  "which",      "while",      "who",       "whoever",    "whole",        "whom",
    "whose",      "why",      "will",       "with",       "within",    "without",    "won",          "won't",
    "would",      "wouldn",   "wouldn't",   "yet",        "you",       "your",       "yours",        "yourself",
    "yourselves"};

static const char *const french[] = {
    "a",        "ai",         "aie",      "ainsi",   "ait",    "alors",   "après",      "as",        "au",
    "aucun",    "aucune",     "aujourd",  "auquel",  "aura",   "aurait",  "aussi",      "autre",     "autres",
    "aux",      "auxquelles", "auxquels", "avaient", "avais",  "avait",   "avant",      "avec",      "avez",
    "avoir",    "avons",      "ayant",    "c",       "car",    "ce",      "ceci",       "cela",      "celle",
    "celles",   "celui",      "ces",      "cet",     "cette",  "ceux",    "chaque",     "chez",      "ci",
    "comme",    "comment",    "contre",   "d",       "dans",   "de",      "depuis",     "des",       "deux",
    "devant",   "doit",       "donc",     "dont",    "du",     "durant",  "elle",       "elles",     "en",
    "encore",   "entre",      "es",       "est",     "et",     "étaient", "étais",      "était",     "étant",
    "été",      "êtes",       "être",     "eu",      "eux",    "fait",    "faire",      "faut",      "fut",
    "hui",      "ici",        "il",       "ils",     "j",      "je",      "jusqu",      "jusque",    "l",
    "la",       "là",         "laquelle", "le",      "lequel", "les",     "lesquelles", "lesquels",  "leur",
    "leurs",    "lors",       "lorsqu",   "lorsque", "lui",    "m",       "ma",         "mais",      "me",
    "même",     "mêmes",      "mes",      "moi",     "moins",  "mon",     "n",          "ne",        "ni",
    "non",      "nos",        "notre",    "nous",    "on",     "ont",     "or",         "ou",        "où",
    "par",      "parce",      "pas",      "pendant", "peu",    "peut",    "plus",       "plusieurs", "pour",
    "pourquoi", "puis",       "puisque",  "qu",      "quand",  "que",     "quel",       "quelle",    "quelles",
    "quels",    "qui",        "quoi",     "quoique", "s",      "sa",      "sans",       "se",        "selon",
    "sera",     "serait",     "ses",      "si",      "soi",    "soient",  "soit",       "sommes",    "son",
    "sont",     "sous",       "suis",     "sur",     "t",      "ta",      "tandis",     "te",        "tel",
    "telle",    "tes",        "toi",      "ton",     "tous",   "tout",    "toute",      "toutes",    "très",
    "tu",       "un",         "une",      "vers",    "voici",  "voilà",   "vos",        "votre",     "vous",
    "y"};

static const char *const german[] = {
    "ab",      "aber",   "alle",   "allem",   "allen",   "aller",   "alles",   "als",     "also",    "am",
    "an",      "ander",  "andere", "anderem", "anderen", "anderer", "anderes", "auch",    "auf",     "aus",
    "bei",     "beim",   "bin",    "bis",     "bist",    "da",      "dabei",   "dadurch", "dafür",   "dagegen",
    "daher",   "damit",  "danach", "dann",    "daran",   "darauf",  "daraus",  "darf",    "darin",   "darüber",
    "darum",   "das",    "dass",   "davon",   "dazu",    "dein",    "deine",   "dem",     "den",     "denen",
    "denn",    "der",    "deren",  "des",     "deshalb", "dessen",  "dich",    "die",     "dies",    "diese",
    "diesem",  "diesen", "dieser", "dieses",  "dir",     "doch",    "dort",    "du",      "durch",   "dürfen",
    "ein",     "eine",   "einem",  "einen",   "einer",   "eines",   "einige",  "einigen", "einiger", "einmal",
    "er",      "es",     "etwa",   "etwas",   "euch",    "euer",    "eure",    "für",     "gegen",   "gewesen",
    "hab",     "habe",   "haben",  "hat",     "hatte",   "hatten",  "hier",    "hin",     "hinter",  "ich",
    "ihm",     "ihn",    "ihnen",  "ihr",     "ihre",    "ihrem",   "ihren",   "ihrer",   "ihres",   "im",
    "in",      "indem",  "ins",    "ist",     "ja",      "jede",    "jedem",   "jeden",   "jeder",   "jedes",
    "jedoch",  "jene",   "jenen",  "jener",   "jetzt",   "kann",    "kein",    "keine",   "keinem",  "keinen",
    "keiner",  "können", "könnte", "machen",  "man",     "manche",  "mehr",    "mein",    "meine",   "meinem",
    "meinen",  "meiner", "mich",   "mir",     "mit",     "muss",    "müssen",  "nach",    "neben",   "nicht",
    "nichts",  "noch",   "nun",    "nur",     "ob",      "oder",    "ohne",    "schon",   "sehr",    "sein",
    "seine",   "seinem", "seinen", "seiner",  "seit",    "selbst",  "sich",    "sie",     "sind",    "so",
    "solche",  "soll",   "sollen", "sollte",  "sondern", "sonst",   "sowie",   "über",    "um",      "und",
    "uns",     "unser",  "unsere", "unter",   "viel",    "vom",     "von",     "vor",     "während", "war",
    "waren",   "warum",  "was",    "weder",   "weil",    "welche",  "welchem", "welchen", "welcher", "welches",
    "wenn",    "wer",    "werde",  "werden",  "wie",     "wieder",  "will",    "wir",     "wird",    "wo",
    "wollen",  "worden", "wurde",  "wurden",  "würde",   "würden",  "zu",      "zum",     "zur",     "zwar",
    "zwischen"};

static const char *const spanish[] = {
    "a",        "al",      "algo",      "alguna",   "algunas",  "alguno",   "algunos", "ante",     "antes",
    "aquel",    "aquella", "aquellas",  "aquello",  "aquellos", "aquí",     "así",     "aun",      "aunque",
    "aún",      "bajo",    "bien",      "cada",     "casi",     "como",     "cómo",    "con",      "contra",
    "cual",     "cuales",  "cualquier", "cuál",     "cuando",   "cuándo",   "de",      "del",      "desde",
    "donde",    "dónde",   "dos",       "durante",  "e",        "el",       "él",      "ella",     "ellas",
    "ello",     "ellos",   "en",        "entonces", "entre",    "era",      "eran",    "eres",     "es",
    "esa",      "esas",    "ese",       "eso",      "esos",     "esta",     "está",    "estaba",   "estado",
    "están",    "estar",   "estas",     "este",     "esto",     "estos",    "estoy",   "fue",      "fueron",
    "ha",       "había",   "haber",     "habían",   "hace",     "hacer",    "hacia",   "han",      "hasta",
    "hay",      "he",      "hemos",     "la",       "las",      "le",       "les",     "lo",       "los",
    "más",      "me",      "menos",     "mi",       "mí",       "mientras", "mis",     "mucho",    "muchos",
    "muy",      "nada",    "ni",        "no",       "nos",      "nosotros", "nuestra", "nuestras", "nuestro",
    "nuestros", "o",       "os",        "otra",     "otras",    "otro",     "otros",   "para",     "pero",
    "poco",     "por",     "porque",    "pues",     "puede",    "pueden",   "que",     "qué",      "quien",
    "quién",    "quienes", "se",        "sea",      "según",    "ser",      "si",      "sí",       "sido",
    "siempre",  "sin",     "sino",      "sobre",    "sois",     "somos",    "son",     "soy",      "su",
    "sus",      "suya",    "suyo",      "tal",      "también",  "tampoco",  "tan",     "tanto",    "te",
    "tener",    "tengo",   "ti",        "tiene",    "tienen",   "toda",     "todas",   "todavía",  "todo",
    "todos",    "tu",      "tú",        "tus",      "u",        "un",       "una",     "unas",     "uno",
    "unos",     "usted",   "ustedes",   "vosotros", "y",        "ya",       "yo"};

#define COUNT(list) ((plx_index)(sizeof(list) / sizeof *(list)))

static const char *const languages[] = {"english", "french", "german", "spanish", "none"};

const char *const *plx__stop_languages(plx_index *count)
{
    *count = COUNT(languages);
    return languages;
}

const char *const *plx__stop_words(plx_index *count, const char *language)
{
    static const struct {
        const char *language;
        const char *const *words;
        plx_index count;
    } lists[] = {{"english", english, COUNT(english)},
                 {"french", french, COUNT(french)},
                 {"german", german, COUNT(german)},
                 {"spanish", spanish, COUNT(spanish)}};
    for (plx_index k = 0; k < COUNT(lists); k++) {
        if (strcmp(lists[k].language, language) != 0) continue;
        *count = lists[k].count;
        return lists[k].words;
    }
    *count = 0;
    return NULL;
}
