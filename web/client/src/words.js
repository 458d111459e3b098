// CUDA's specifiers (group 1), built-in names (group 2), and the brackets of a launch (group 3).
const SPECIFIERS = "__(?:global|device|host|shared|constant|managed|restrict|forceinline|noinline|launch_bounds|grid_constant)__";
const NAMES = [
  "threadIdx|blockIdx|blockDim|gridDim|warpSize|dim3|cudaStream_t|cudaError_t|cudaEvent_t",
  "(?:u?(?:char|short|int|long|longlong)|float|double)[1-4]|half2?|__half2?|nv_bfloat16[12]?|__nv_bfloat16[12]?",
  "__sync(?:threads|warp)\\w*|__shfl(?:_(?:up|down|xor))?_sync|__(?:all|any|ballot|activemask|reduce_\\w+)(?:_sync)?|__ldg|__fmaf?_r[nzud]",
  "atomic(?:Add|Sub|Exch|Min|Max|Inc|Dec|CAS|And|Or|Xor)(?:_(?:block|system))?",
].join("|");

export const CUDA_WORDS = new RegExp(`\\b(${SPECIFIERS})(?!\\w)|\\b(${NAMES})\\b|(<<<|>>>)`, "g");
