// Elementary functions that are the same bits on every machine: another C library differs in the last digit, and what
// shapes weights, positions or the choice of a word must not. Plain IEEE additions, products and quotients in a fixed
// order, to within two units of the last place of a double.
#pragma once

namespace attune::portable {

double exp(double x);
double exp2(double x);
/// The natural one, of what is above 0; log(0) is minus infinity.
double log(double x);
double log1p(double x);
/// Of what is above 0; relative error about |y log x| units of the last place.
double pow(double x, double y);
double sin(double x);
double cos(double x);

}  // namespace attune::portable
