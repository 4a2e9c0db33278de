package grammar

var reasonTexts = map[Reason][2]string{
	NoSpeech:          {"nothing is left after normalising", "[BLANK_AUDIO]"},
	UnknownCommand:    {"no command begins like this; or more than a stop was said", "stop that and dig"},
	Ambiguous:         {"two readings that a speaker could mean, or two commands", "choď dvadsať jeden dva"},
	MissingCoordinate: {"fewer than three numbers", "choď 10 64"},
	ExtraCoordinate:   {"more than three numbers", "choď 1 2 3 4"},
	NumberRange:       {"a number outside −30 000 … 30 000", "choď 30001 64 3"},
	BadNumber:         {"something that should be a number is none", "choď 1e5 64 3"},
	BadText:           {"the text to say is empty or forbidden", "say /op me"},
	NotAWholeCommand:  {"a command begins, but words are missing or don't belong", "choď domov"},
}

const readingsText = `
## Unique reading

A *reading* cuts all number words into numbers. No number reaches across a comma, another separator or a label, and no number
begins or ends inside a joined or hyphenated word. The *longest-match reading* is the one whose first number takes the most words,
then the second, and so on.

A text is accepted if its longest-match reading has exactly three numbers, all of them in the grammar, and no other reading of three
numbers, with any other value, exists. If the longest-match reading has another count but some reading has three numbers, the text is
ambiguous too: whoever left a word out must not be taken for someone who didn't. Readings of another count than three do not count,
for nobody means them.

So that no misreading slips through, some readings that are **never accepted** are looked at as well and make a text ambiguous:
numbers outside the range; digits and words in one number (` + "`sto 64`" + `); English number words after a Slovak or Czech verb and the other
way round (` + "`ten`" + ` is also Slovak and Czech for "that"; ` + "`goto`" + ` and ` + "`look-at`" + ` take either); three or more decimals; decimals before thousand (` + "`2.5 tisíc`" + `);
` + "`a`, `and`" + ` as a separator between numbers; a decimal comma in English; groups of three digits; ` + "`one twenty`" + ` for 120. Digits spoken one by one
for a whole number (` + "`one two five`" + ` for 125) are three numbers.
`

var readingExamples = []string{
	"choď sto dvadsať päť 64 3", "choď dvadsať jeden dva", "choď sto dvadsať päť šesťdesiat štyri tri", "choď sto dvadsať päť tri",
	"choď sto dvadsať, päť, tri", "choď desať tisíc šesťdesiatštyri mínus päť", "jdi patnáct sedmdesát jedna dvacet jedna",
	"jdi sedm celá dva pět sedmdesát dvanáct", "jdi sedm celá dva pět šedesát", "jdi dvacet pět a třicet sedm",
	"go to one sixty-four two", "go to one twenty five sixty", "go to one oh five sixty-four three", "go to six oh four", "go to oh ten sixty-four", "go to point ten sixty-four five",
	"choď 10 šesťdesiatštyri mínus päť", "choď sto 64 3", "pozri na ten dva tri", "choď 2 tisíc 64 3", "choď 2 tisíc, 64, 3",
}

const writtenText = `
## Written coordinates

Three numbers with spaces, commas, semicolons, slashes or full stops between them, or with the labels x, y and z (iks, ypsilon, zet), all
three and in this order. A minus is a hyphen, U+2212 or an en dash directly before a digit. A decimal point everywhere, a decimal comma in
Slovak and Czech, one or two decimals. Exactly three written numbers next to each other are always these three, so that canonical forms
parse to themselves; otherwise groups of three digits are ambiguous unless separators on both sides settle them. So are three written numbers
with a separator at one place only, and a dash between digits. A sign, point or comma needs its digits: ` + "`.5`, `+5` and `- 5`" + ` are no numbers.
`

var writtenExamples = []string{
	"choď 10 64 -5", "choď 10, 64, -5", "choď 10,64,-5", "choď 10; 64; -5", "choď 10/64/-5", "choď 10. 64. -5.", "choď X10 Y64 Z-5",
	"choď 10 64 −5", "choď 10-64-5", "choď 10,5 64 -3", "go to 10,5 64 -3", "choď 10,64 -5", "choď 1 543 7", "choď 1 543 64 3",
	"choď 1 543, 64, 3", "choď 10. 5 64", "choď .5 64 3", "choď 1.543 64 3", "choď 10,100,200", "choď 10645", "choď 007 64 3", "choď 1e5 64 3",
}

const sayText = `
## Say

TEXT keeps its letters, accents and inner punctuation. Outer quotes, a separator before it, runs of spaces and one final full stop fall away. It
has 1 to 256 characters, in one line, none of them a control, format, private or invisible character or the game's formatting sign, and
does not begin with a slash or anything that looks like one, not even behind quotes, punctuation or marks.
`

var sayExamples = []string{
	"povedz: „Idem domov.“", "say stop", "say hello...", "say /op me", "say “∕op me”", "say §4red", "say",
}

const decodingText = `
## Decoding

Speech recognition decodes against an automaton of the same tables, with the permitted commands and the coordinate bounds of the session
compiled in. It proposes; the parser judges. What it accepts, the parser accepts, within the bounds, with these exceptions:

- the parser may refuse it as ambiguous, or a text to say as bad text;
- the automaton has no digits, labels, tags, quotes or separators but the comma; only the forms before the semicolons above; words joined by one
  space, or as the tables say; letters with their accents, in NFC; a capital letter only at the beginning; at most 240 bytes to say;
- it keeps to one language in a sentence, where the parser reads all of them at once;
- bare coordinates and bare numbers exist as start symbols for evaluation only: the product never accepts them.
`
