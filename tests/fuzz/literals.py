"""Files of formats that `tests/data/traces` has none of, or not all sorts of, as their makers write them."""

from __future__ import annotations

import marshal
from typing import Any

from tests.unit.ingest.formats import samples, test_chrome, test_rocpd, test_rocprof_json, test_torch_autograd

_CHAINER: dict[str, Any] = {"cat": "chainer", "ph": "X", "pid": 1, "tid": 7}
_OLD_KINETO: dict[str, Any] = {"ph": "X", "pid": "CUDA", "ts": 10}
JSON: dict[str, Any] = {
    "rocprof.json": test_rocprof_json.CONTENT,
    "autograd.json": test_torch_autograd.EVENTS,
    "chrome.json": test_chrome.EVENTS,
    "openvino.json": {
        "format": "dlprof.openvino/1",
        "owner": {"MatMul_24": "dense_1", "Softmax_35": "dense_2"},
        "calls": [
            [1000, 2000, [["bf16_MatMul_24", "Reorder", "jit", 100], ["MatMul_24", "FullyConnected", "brgemm", 400]]],
            [5000, 5100, [["Softmax_35", "Softmax", "jit_f32", 50]]],
        ],
    },
    "chainer.json": {
        "traceEvents": [
            {**_CHAINER, "name": "LinearFunction", "ts": 10, "dur": 5, "args": {"name": "dense_1", "op": "forward"}},
            {**_CHAINER, "name": "LinearGrad", "ts": 22, "dur": 3, "args": {"name": "dense_1", "op": "backward"}},
            {**_CHAINER, "name": "RMSpropRule", "ts": 30, "dur": 2, "args": {"name": "", "op": "update"}},
        ]
    },
    "theano.json": {"functions": [{"name": "train", "operators": {"Dot22": [6, 0.5], "GpuGemm": [2, 0.25]}}]},
    "kineto-2020.json": [
        {**_OLD_KINETO, "cat": "Operator", "name": "mm", "dur": 9, "tid": "7", "args": {"External id": 3}},
        {**_OLD_KINETO, "cat": "Kernel", "name": "k", "dur": 5, "tid": "stream 7", "args": {"stream": 7, "device": 0}},
        {**_OLD_KINETO, "cat": "Memcpy", "name": "m", "dur": 2, "tid": "stream 7", "args": {"bytes": 64}},
    ],
}
TEXTS = {
    "live.csv": samples.LIVE_CSV,
    "old.txt": samples.OLD_TEXT,
    "lines.txt": samples.LINES,
    "raw.txt": samples.RAW,
    "chrometrace.json": samples.CHROME,
    "smi.csv": samples.SMI,
    "horovod.json": samples.HOROVOD,
    "vm.trace.json": samples.VIEWER,
    "imports.txt": samples.IMPORTS,
    "kernels.csv": (
        '"Kind","Agent_Id","Queue_Id","Kernel_Name","Correlation_Id","Start_Timestamp","End_Timestamp"\n'
        '"KERNEL_DISPATCH","Agent 4",1,"add(float*)",7,1500,1900\n'
        '"KERNEL_DISPATCH","Agent 5",2,"__amd_rocclr_copyBuffer.kd",8,2500,2900\n'
    ),
    "calls.csv": (
        '"Domain","Function","Process_Id","Thread_Id","Correlation_Id","Start_Timestamp","End_Timestamp"\n'
        '"HIP_RUNTIME_API","hipLaunchKernel",9,9,7,1000,1100\n"MARKER_CORE_API","step 1",9,9,8,900,3000\n'
    ),
    "counters.csv": (
        '"Agent_Id","Kernel_Name","Counter_Name","Counter_Value"\n"Agent 4","add","SQ_WAVES",64\n4,"add","SQ_WAVES",32.5\n'
    ),
}
BYTES = {"packets.pftrace": samples.PERFETTO, "out.prof": marshal.dumps(samples.PSTATS)}
DATABASES = {
    "rocpd-3": test_rocpd.COMMON + test_rocpd.SCHEMA_3,
    "rocpd-4": test_rocpd.COMMON + test_rocpd.SCHEMA_4,
    "nsys": """
        CREATE TABLE StringIds (id INTEGER, value TEXT);
        INSERT INTO StringIds VALUES (1, 'saxpy'), (2, 'cudaLaunchKernel_v7000'), (3, 'forward'), (4, 'python');
        CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, streamId, correlationId, demangledName);
        INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (500, 900, 0, 7, 1, 1), (1500, 1900, 0, 7, 2, 1);
        CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start, end, deviceId, streamId, correlationId, bytes, copyKind);
        INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (950, 960, 0, 7, 3, 64, 2);
        CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end, globalTid, correlationId, nameId);
        INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (100, 200, 281474993487873, 1, 2), (910, 920, 281474993487873, 3, 2);
        CREATE TABLE NVTX_EVENTS (start, end, eventType, globalTid, text, textId);
        INSERT INTO NVTX_EVENTS VALUES (50, 300, 59, 281474993487873, NULL, 3), (0, NULL, 75, 5, 'domain', NULL);
        CREATE TABLE ThreadNames (globalTid, nameId); INSERT INTO ThreadNames VALUES (281474993487873, 4);
        CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs);
        INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1700000000000000000);
        CREATE TABLE TARGET_INFO_GPU (id, name); INSERT INTO TARGET_INFO_GPU VALUES (0, 'A100');
        CREATE TABLE META_DATA_EXPORT (name, value); INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_HOST', 'h');
        CREATE TABLE OSRT_API (start, end); INSERT INTO OSRT_API VALUES (1, 2);
    """,
    "nvprof": """
        CREATE TABLE StringTable (_id_ INTEGER, value TEXT);
        INSERT INTO StringTable VALUES (1, 'sgemm'), (2, '{''mod'': ''F'', ''op'': ''linear'', ''args'': []}');
        CREATE TABLE CUPTI_ACTIVITY_KIND_DRIVER (start, end, threadId, correlationId, cbid);
        CREATE TABLE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL (start, end, deviceId, streamId, correlationId, name);
        INSERT INTO CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL VALUES (1000, 3000, 0, 7, 11, 1), (6000, 7000, 0, 7, 12, 1);
        CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end, threadId, correlationId, cbid);
        INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (400, 600, 5, 11, 211), (5500, 5700, 5, 12, 211);
        CREATE TABLE CUPTI_ACTIVITY_KIND_MARKER (timestamp, id, name, objectId, flags);
        INSERT INTO CUPTI_ACTIVITY_KIND_MARKER VALUES (100, 1, 2, x'010000000500000000000000', 2),
            (4000, 1, 0, x'010000000500000000000000', 4);
        CREATE TABLE CUPTI_ACTIVITY_KIND_DEVICE (id, name); INSERT INTO CUPTI_ACTIVITY_KIND_DEVICE VALUES (0, 1);
    """,
    "rpd": """
        CREATE TABLE rocpd_string (id, string);
        INSERT INTO rocpd_string VALUES (1, 'hipLaunchKernel'), (2, 'add'), (3, 'KernelExecution'), (4, 'CopyHostToDevice'),
            (5, 'UserMarker');
        CREATE TABLE rocpd_ustring (id, string); INSERT INTO rocpd_ustring VALUES (1, 'step 1');
        CREATE TABLE rocpd_api_ops (api_id, op_id); INSERT INTO rocpd_api_ops VALUES (1, 1), (2, 2);
        CREATE TABLE rocpd_copyapi (api_ptr_id, size); INSERT INTO rocpd_copyapi VALUES (2, 64);
        CREATE TABLE rocpd_op (id, start, end, gpuId, queueId, description_id, opType_id);
        INSERT INTO rocpd_op VALUES (1, 500, 900, 0, 1, 2, 3), (2, 950, 990, 0, 1, 2, 4);
        CREATE TABLE rocpd_api (id, start, end, tid, apiName_id, args_id);
        INSERT INTO rocpd_api VALUES (1, 100, 200, 5, 1, 1), (2, 210, 220, 5, 1, 1), (3, 90, 1000, 5, 5, 1);
    """,
}
"""Tables as each tool makes them, with a few rows."""
