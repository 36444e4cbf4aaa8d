"""What aiconfigurator calls the parts, serving engines, networks and formats of this program."""

#: Parts that it has a database of measured kernels for; it names others without one.
SYSTEMS = {
    "a100-80gb-sxm": "a100_sxm",
    "h100-sxm": "h100_sxm",
    "h200-sxm": "h200_sxm",
    "b200-hgx": "b200_sxm",
    "b300-hgx": "b300_sxm",
    "gb200-nvl72": "gb200",
    "gb300-nvl72": "gb300",
    "l40s": "l40s",
    "rtx-pro-6000-blackwell": "rtx_pro_6000_server",
}
BACKENDS = {"tensorrt-llm": "trtllm", "vllm": "vllm", "sglang": "sglang"}

#: Networks by the name of a checkpoint whose configuration the tool carries.
NETWORKS = {
    "llama-3.1-8b": "meta-llama/Meta-Llama-3.1-8B",
    "llama-3.1-70b": "meta-llama/Meta-Llama-3.1-70B",
    "llama-3.3-70b": "meta-llama/Meta-Llama-3.1-70B",
    "llama-3.1-405b": "meta-llama/Meta-Llama-3.1-405B",
    "llama-4-scout": "meta-llama/Llama-4-Scout-17B-16E-Instruct",
    "llama-4-maverick": "meta-llama/Llama-4-Maverick-17B-128E-Instruct",
    "qwen3-8b": "Qwen/Qwen3-8B",
    "qwen3-32b": "Qwen/Qwen3-32B",
    "qwen3-30b-a3b": "Qwen/Qwen3-30B-A3B",
    "qwen3-235b-a22b": "Qwen/Qwen3-235B-A22B",
    "qwen3-coder-480b-a35b": "Qwen/Qwen3-Coder-480B-A35B-Instruct",
    "deepseek-r1": "deepseek-ai/DeepSeek-R1",
    "deepseek-v3": "deepseek-ai/DeepSeek-V3",
    "deepseek-v3.2": "deepseek-ai/DeepSeek-V3.2",
    "gpt-oss-120b": "openai/gpt-oss-120b",
    "gpt-oss-20b": "openai/gpt-oss-20b",
}
#: Checkpoints in a narrower format, of which the tool knows what they quantize.
CHECKPOINTS = {
    ("deepseek-r1", "fp8"): "deepseek-ai/DeepSeek-R1",
    ("deepseek-v3", "fp8"): "deepseek-ai/DeepSeek-V3",
    ("deepseek-v3.2", "fp8"): "deepseek-ai/DeepSeek-V3.2",
    ("deepseek-r1", "nvfp4"): "nvidia/DeepSeek-V3.1-NVFP4",
    ("deepseek-v3.2", "nvfp4"): "nvidia/DeepSeek-V3.2-NVFP4",
    ("qwen3-235b-a22b", "nvfp4"): "nvidia/Qwen3-235B-A22B-NVFP4",
    ("gpt-oss-120b", "mxfp4"): "openai/gpt-oss-120b",
    ("gpt-oss-20b", "mxfp4"): "openai/gpt-oss-20b",
}
#: Networks that it carries no configuration of, but whose architecture it models under this name.
ARCHITECTURES = {
    "llama-2-7b": "LlamaForCausalLM",
    "llama-2-70b": "LlamaForCausalLM",
    "mistral-7b-v0.3": "LlamaForCausalLM",
    "qwen2.5-32b": "Qwen2ForCausalLM",
    "mixtral-8x7b": "MixtralForCausalLM",
}
#: Kernels for a weight format, as (matrices, experts), in the order of preference.
KERNELS = {
    "bf16": (("bfloat16", "bfloat16"),),
    "fp16": (("bfloat16", "bfloat16"),),
    "fp8": (("fp8_static", "fp8"), ("fp8", "fp8"), ("fp8_block", "fp8_block")),
    "nvfp4": (("nvfp4", "nvfp4"),),
    "int4": (("int4_wo", "int4_wo"),),
}
