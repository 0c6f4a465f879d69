"""Digits by the rule of the Particle Data Group, and powers of ten."""

import math

import pytest

from analysis.figures.captions import MISSING, common_power, rounded, to_its_u, with_u


@pytest.mark.parametrize(
    ("value", "u", "printed"),
    [
        (0.827, 0.119, "0.83(12)"),  # the three examples of the rule itself
        (0.827, 0.367, "0.8(4)"),
        (14.674, 0.964, "14.7(10)"),
        (0.8656734, 0.00017316, "0.86567(17)"),
        (0.8662029, 0.00168, "0.8662(17)"),
        (-3.66e-4, 6.17e-4, r"$-4(6) \times 10^{-4}$"),
        (3.7677e-6, 3.7636e-6, r"$4(4) \times 10^{-6}$"),
        (2848200.0, 4594.4, r"$2.848(5) \times 10^{6}$"),
        (12.34, 1.2, "12.3(12)"),
        (0.0, 0.1, "0.00(10)"),
        (3.7e-4, 9.8e-5, r"$3.7(10) \times 10^{-4}$"),
        (2e-5, 9.8e-5, r"$0.2(10) \times 10^{-4}$"),
    ],
)
def test_a_number_ends_where_its_uncertainty_ends(value, u, printed):
    assert with_u(value, u) == printed


def test_differences_carry_their_sign():
    assert with_u(5.339e-3, 9.33e-4, sign=True) == "$+0.0053(9)$"
    assert with_u(-5.339e-3, 9.33e-4, sign=True) == "$-0.0053(9)$"


def test_a_value_and_its_u_by_themselves_end_at_the_same_digit():
    assert to_its_u(0.8656734, 0.00017316) == ("0.86567", "0.00017")
    value, u = to_its_u(3.7677e-6, 3.7636e-6)
    assert value == u == r"$4 \times 10^{-6}$"


def test_what_has_no_uncertainty_has_leading_digits_and_no_e():
    said = [rounded(v) for v in (0.123456, 99_999.7, 9.999, 1000.0, 0.0, -1.2)]
    power = r"$1.00 \times 10^{5}$"
    assert said == ["0.123", power, "10.0", "1000", "0", "$-1.20$"]
    assert rounded(46.0, 2) == "46"
    assert rounded(2.6281e-5, 2) == r"$2.6 \times 10^{-5}$"


def test_what_is_not_known_is_a_dash():
    assert rounded(math.nan) == with_u(math.nan, 0.1) == MISSING
    assert with_u(0.5, math.nan) == with_u(0.5, 0.0) == "0.500"


def test_numbers_of_a_column_are_told_in_one_power_of_ten():
    column = [(-3.66e-4, 6.17e-4), (5.339e-3, 9.33e-4), (3.7677e-6, 3.7636e-6)]
    assert common_power(column) == -3
    said = [with_u(*pair, sign=True, power=-3) for pair in column]
    assert said == ["$-0.4(6)$", "$+5.3(9)$", "$+0.004(4)$"]
    assert common_power([(0.8657, 1.7e-4), (5.339e-3, 9.33e-4)]) == 0
    assert with_u(0.8657, 1.7e-4, power=0) == with_u(0.8657, 1.7e-4)
    assert common_power([(2848200.0, 4594.4), (12.0, 1.0)]) == 6
    assert common_power([(math.nan, 1.0), (0.5, math.nan)]) == common_power([]) == 0
    assert with_u(math.nan, 1e-4, power=-3) == MISSING
