// A name of a billion letters.
//
// Mechanism: a mangled name has each type once; demangled, every level repeats the one below twice, forty levels
//   deep.
// Surface: code that demangles names.
// Gain: a name of gigabytes in the compiler's box or in the report.
// Challenge: twice
// Like: template_bomb
// Defence: compile_error
// On: cpu
// Limits: COMPILE_SECONDS 3

#include <cstdint>
template <typename A, typename B> struct P {};
typedef int T0;
typedef P<T0, T0> T1;
typedef P<T1, T1> T2;
typedef P<T2, T2> T3;
typedef P<T3, T3> T4;
typedef P<T4, T4> T5;
typedef P<T5, T5> T6;
typedef P<T6, T6> T7;
typedef P<T7, T7> T8;
typedef P<T8, T8> T9;
typedef P<T9, T9> T10;
typedef P<T10, T10> T11;
typedef P<T11, T11> T12;
typedef P<T12, T12> T13;
typedef P<T13, T13> T14;
typedef P<T14, T14> T15;
typedef P<T15, T15> T16;
typedef P<T16, T16> T17;
typedef P<T17, T17> T18;
typedef P<T18, T18> T19;
typedef P<T19, T19> T20;
typedef P<T20, T20> T21;
typedef P<T21, T21> T22;
typedef P<T22, T22> T23;
typedef P<T23, T23> T24;
typedef P<T24, T24> T25;
typedef P<T25, T25> T26;
typedef P<T26, T26> T27;
typedef P<T27, T27> T28;
typedef P<T28, T28> T29;
typedef P<T29, T29> T30;
template <typename T> __global__ void kernel(T* x) {}
void use() { kernel<T30><<<1, 1>>>(nullptr); }
extern "C" void solve(const float* x, float* out, int64_t n) {}
