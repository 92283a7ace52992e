import json
import random
import unittest

from comparing import difference
from jsontext import JsonError, Number, TwiceNamed, dump, parse, parse_without_recursion

BOTH_WAYS = (parse, parse_without_recursion)


class Parsing(unittest.TestCase):
    def each(self, text, expected):
        for way in BOTH_WAYS:
            with self.subTest(text=text, way=way.__name__):
                self.assertEqual(way(text), expected)

    def test_numbers_keep_their_text(self):
        for text in ("0", "-0", "-0.0", "1.0", "1e400", "1E+2", "9007199254740993", "12345678901234567890.10"):
            for way in BOTH_WAYS:
                self.assertEqual(way(text).text, text)

    def test_a_number_of_ten_thousand_digits(self):
        self.assertEqual(parse("7" * 10_000).text, "7" * 10_000)

    def test_twice_named_members_are_kept_in_order(self):
        for way in BOTH_WAYS:
            value = way('{"a":1,"b":2,"a":3}')
            self.assertIsInstance(value, TwiceNamed)
            self.assertEqual(value.pairs, [("a", Number("1")), ("b", Number("2")), ("a", Number("3"))])
            self.assertEqual(value.twice(), {"a"})
            self.assertEqual(dump(value), '{"a":1,"b":2,"a":3}')

    def test_surrogates(self):
        self.each(r'"\ud83d\ude00"', "\U0001f600")
        self.each(r'"\ud83d"', "\ud83d")
        self.each(r'"\ude00\ud83d"', "\ude00\ud83d")
        self.assertEqual(dump("\ud83d"), r'"\ud83d"')

    def test_ordinary_values(self):
        self.each(' [ true , false , null , "a\\n" , { } , [ ] ] ', [True, False, None, "a\n", {}, []])
        self.each('{"":{"a":[1,{"b":2}]},"c":[]}', {"": {"a": [Number("1"), {"b": Number("2")}]}, "c": []})

    def test_ten_thousand_levels_and_more(self):
        for depth in (10_000, 200_000):
            for text in ("[" * depth + "]" * depth, '{"a":' * depth + "1" + "}" * depth):
                value = parse(text)
                self.assertEqual(dump(value), text)
                self.assertIsNone(difference(value, parse(text)))
                other = parse(text.replace("[]", "[0]").replace("1", "2"))
                self.assertIsNotNone(difference(value, other))

    def test_what_is_no_json_is_refused(self):
        broken = ("NaN", "[Infinity]", "-Infinity", "01", "+1", ".5", "1.e3", "'a'", "[1,]", '{"a":1,}', "{a:1}", "[1 2]",
                  '{"a" 1}', "{1:2}", '"\t"', '"\x00"', '"\\x41"', '"\\u12g4"', '"\\u+123"', "True", "nul!", "{} {}", "[]]",
                  "\x00", "\ufeff{}", "\u00a0[]", "[\x0b]", "1 1", "tru e", "١", "// c\n1")  # fmt: skip
        for text in broken:
            for way in BOTH_WAYS:
                with self.subTest(text=text, way=way.__name__):
                    with self.assertRaises(JsonError) as caught:
                        way(text)
                    self.assertFalse(caught.exception.truncated)

    def test_text_that_ends_too_early_is_told_from_broken_text(self):
        whole = '{"a": [1.5e-3, "x\\u00e9\\\\\\"", true, null, {"b": [{}, -0]}], "c": "\\ud83d"}'
        for cut in range(len(whole)):
            with self.subTest(text=whole[:cut]), self.assertRaises(JsonError) as caught:
                parse(whole[:cut])
            self.assertTrue(caught.exception.truncated, whole[:cut])
        for text in ("", "  ", "-", "1.", "1e", "1e-", '"', "t", "[1", "[1.", "[-", '{"a"', '{"a":', '[""'):
            with self.subTest(text=text), self.assertRaises(JsonError) as caught:
                parse(text)
            self.assertTrue(caught.exception.truncated, text)
        parse("12")  # a number may end anywhere that leaves a number

    def test_both_ways_agree_on_damaged_text(self):
        chance = random.Random(1)
        whole = '{"a":[1.5e-3,"x\\u00e9\\\\",true,null,{"b":[{},-0,""]}],"a":"\\ud83d\\ude00",  "z":false}'
        refused = 0
        for _ in range(20_000):
            text = list(whole)
            for _ in range(chance.randint(1, 3)):
                at = chance.randrange(len(text))
                text[at : at + chance.randint(0, 2)] = chance.choice('{}[]",:\\u0e-+1. tfn\n\x00')
            text = "".join(text)
            results = [self.outcome(way, text) for way in BOTH_WAYS]
            self.assertEqual(results[0], results[1], text)
            self.assertEqual(results[0] is None, self.library_refuses(text), text)
            refused += results[0] is None
        self.assertTrue(1000 < refused < 20_000, refused)

    @staticmethod
    def outcome(way, text):
        try:
            return dump(way(text))
        except JsonError:
            return None

    @staticmethod
    def library_refuses(text):
        def no(name):
            raise ValueError(name)

        try:
            json.loads(text, parse_constant=no)
        except ValueError:
            return True
        return False


class Comparing(unittest.TestCase):
    def test_numbers_by_their_decimal_value(self):
        equal = [("1", "1.0"), ("1", "1e0"), ("100", "1E+2"), ("0.1", "1e-1"), ("0", "-0"), ("0", "0e99"), ("-2.50", "-25e-1"),
                 ("1e400", "10e399"), ("1e" + "0" * 5000 + "7", "10000000")]  # fmt: skip
        different = [("1", "-1"), ("9007199254740993", "9007199254740992"), ("0.1", "0.10000000000000001"), ("1e400", "1e401"),
                     ("1", "10"), ("12", "1.2"), ("1e" + "9" * 5000, "1e" + "9" * 4999 + "8")]  # fmt: skip
        for a, b in equal:
            self.assertEqual(Number(a), Number(b), (a, b))
            self.assertEqual(hash(Number(a)), hash(Number(b)))
        for a, b in different:
            self.assertNotEqual(Number(a), Number(b), (a, b))
        self.assertEqual(Number("1e" + "9" * 5000), Number("10e" + "9" * 4999 + "8"))

    def at(self, left, right, marker=None):
        return difference(parse(left), parse(right), marker)

    def test_member_order_is_free(self):
        self.assertIsNone(self.at('{"a":1,"b":[1,{"c":null}]}', '{"b":[1.0,{"c":null}],"a":1}'))

    def test_the_first_difference_has_its_pointer(self):
        self.assertEqual(self.at('{"a":[1,{"b/~":2}],"z":0}', '{"a":[1,{"b/~":3}],"z":1}'), "/a/1/b~1~0")
        self.assertEqual(self.at("[1,2]", "[1]"), "/1")
        self.assertEqual(self.at("[1,2]", "[3]"), "/0")
        self.assertEqual(self.at('{"a":null}', "{}"), "/a")
        self.assertEqual(self.at("1", "2"), "")

    def test_kinds_are_not_mixed_up(self):
        kinds = ["null", "false", "true", "0", "1", '""', '"1"', "[]", "{}"]
        for a in kinds:
            for b in kinds:
                self.assertEqual(self.at(a, b) is None, a == b, (a, b))

    def test_strings_by_code_points(self):
        self.assertIsNotNone(self.at('"é"', '"e\u0301"'))
        self.assertIsNone(self.at('"\\u00e9"', '"é"'))

    def test_twice_named(self):
        self.assertIsNone(self.at('{"a":1,"b":0,"a":2}', '{"b":0,"a":1,"a":2}'))
        self.assertIsNotNone(self.at('{"a":1,"a":2}', '{"a":2,"a":1}'))
        self.assertIsNotNone(self.at('{"a":1,"a":2}', '{"a":2}'))

    def test_redaction_only_where_it_is_asked_for(self):
        left, right = '{"t":"Bearer [REDACTED]","n":1}', '{"t":{"x":1},"n":1}'
        self.assertEqual(self.at(left, right), "/t")
        self.assertIsNone(self.at(left, right, "[REDACTED]"))
        self.assertEqual(self.at(left, '{"t":"secret","n":2}', "[REDACTED]"), "/n")


if __name__ == "__main__":
    unittest.main()
