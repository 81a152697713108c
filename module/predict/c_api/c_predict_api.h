#ifndef COOPER_MODULE_PREDICT_C_API_C_PREDICT_API_H_
#define COOPER_MODULE_PREDICT_C_API_C_PREDICT_API_H_

// MXNet 1.x's C interface for prediction, with its names, arguments and binary interface. A program
// that was written for libmxnet_predict.so, or linked with it, runs with libcooper_predict.so.
// MXNet: include/mxnet/c_predict_api.h.
//
// Every function returns 0, or -1 with a text from MXGetLastError. Nothing is thrown. Arrays of
// shapes come as in MXNet: input i has the extents input_shape_data[input_shape_indptr[i]] up to,
// but without, input_shape_data[input_shape_indptr[i + 1]].
//
// One thread at a time uses a handle. Handles of different threads share nothing that is written
// but parameters, where MXPredSetInput names one.

/* NOLINTBEGIN(modernize-deprecated-headers,modernize-use-using): read by C too. */
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MXNET_DLL __attribute__((visibility("default")))

typedef uint32_t mx_uint;
typedef float mx_float;
/* A network bound to shapes; freed by MXPredFree. */
typedef void* PredictorHandle;
/* The arrays of a file; freed by MXNDListFree. */
typedef void* NDListHandle;
/* An array of a monitor's call, which is valid during the call. */
typedef void* NDArrayHandle;
typedef void (*PredMonitorCallback)(const char* name, NDArrayHandle array, void* callback_handle);
/* NOLINTEND(modernize-deprecated-headers,modernize-use-using) */

/* What went wrong in this thread's last call that failed. Valid until its next one. */
MXNET_DLL const char* MXGetLastError();

/* Binds the network of a symbol file's text to inputs of these shapes, with the parameters of a
 * .params file's bytes. dev_type is 1 for the CPU and 2 for a GPU. An argument that is neither a
 * parameter nor an input, such as a label, has the shape that follows from the others, and zeros.
 * An input that the file has too is of the file's value and dtype until it is set; shapes must
 * agree.
 */
MXNET_DLL int MXPredCreate(const char* symbol_json_str, const void* param_bytes, int param_size,
                           int dev_type, int dev_id, uint32_t num_input_nodes,
                           const char** input_keys, const uint32_t* input_shape_indptr,
                           const uint32_t* input_shape_data, PredictorHandle* out);

/* With dtypes of arguments, in MXNet's codes: 0 float32, 1 float64, 2 float16, 3 uint8, 4 int32,
 * 5 int8, 6 int64. Parameters, and inputs that the file has too, keep the dtypes of the file,
 * whatever is said here; what has none here and is not in the file is float32, whatever dtype the
 * symbol gives it. */
MXNET_DLL int MXPredCreateEx(const char* symbol_json_str, const void* param_bytes, int param_size,
                             int dev_type, int dev_id, uint32_t num_input_nodes,
                             const char** input_keys, const uint32_t* input_shape_indptr,
                             const uint32_t* input_shape_data, uint32_t num_provided_arg_dtypes,
                             const char** provided_arg_dtype_names, const int* provided_arg_dtypes,
                             PredictorHandle* out);

/* With the outputs of these nodes ("fc1" for fc1_output) in place of the network's own. */
MXNET_DLL int MXPredCreatePartialOut(const char* symbol_json_str, const void* param_bytes,
                                     int param_size, int dev_type, int dev_id,
                                     uint32_t num_input_nodes, const char** input_keys,
                                     const uint32_t* input_shape_indptr,
                                     const uint32_t* input_shape_data, uint32_t num_output_nodes,
                                     const char** output_keys, PredictorHandle* out);

/* num_threads handles, in out[0] and after it, which share parameters and what was compiled. */
MXNET_DLL int MXPredCreateMultiThread(const char* symbol_json_str, const void* param_bytes,
                                      int param_size, int dev_type, int dev_id,
                                      uint32_t num_input_nodes, const char** input_keys,
                                      const uint32_t* input_shape_indptr,
                                      const uint32_t* input_shape_data, int num_threads,
                                      PredictorHandle* out);

/* A new handle for other shapes of inputs. It shares the parameters, and the memory of activations:
 * one of the two is used at a time, and outputs are those of the last forward pass of both. The old
 * handle stays valid. Parameters must keep their shapes. */
MXNET_DLL int MXPredReshape(uint32_t num_input_nodes, const char** input_keys,
                            const uint32_t* input_shape_indptr, const uint32_t* input_shape_data,
                            PredictorHandle handle, PredictorHandle* out);

/* The shape of an output. Valid until the next call for this handle. */
MXNET_DLL int MXPredGetOutputShape(PredictorHandle handle, uint32_t index, uint32_t** shape_data,
                                   uint32_t* shape_ndim);

/* The dtype's code, in out_dtype[out_index], where MXNet writes it. */
MXNET_DLL int MXPredGetOutputType(PredictorHandle handle, uint32_t out_index, int* out_dtype);

/* Copies `size` elements, as many as the argument has, in its dtype. */
MXNET_DLL int MXPredSetInput(PredictorHandle handle, const char* key, const float* data,
                             uint32_t size);

MXNET_DLL int MXPredForward(PredictorHandle handle);

/* For programs that go through a network step by step: call it with 0, 1, ... until *step_left is
 * 0. All is computed in the last step. */
MXNET_DLL int MXPredPartialForward(PredictorHandle handle, int step, int* step_left);

/* Copies the `size` elements of an output of the last forward pass, in its dtype. */
MXNET_DLL int MXPredGetOutput(PredictorHandle handle, uint32_t index, float* data, uint32_t size);

MXNET_DLL int MXPredFree(PredictorHandle handle);

/* Calls back with each operator's outputs, and with monitor_all its inputs too. Null ends it. */
MXNET_DLL int MXPredSetMonitorCallback(PredictorHandle handle, PredMonitorCallback callback,
                                       void* callback_handle, bool monitor_all);

/* The arrays of a .params file's bytes, as float32. */
MXNET_DLL int MXNDListCreate(const char* nd_file_bytes, int nd_file_size, NDListHandle* out,
                             uint32_t* out_length);

/* One of them; its name is empty where the file has none. Valid until MXNDListFree. */
MXNET_DLL int MXNDListGet(NDListHandle handle, uint32_t index, const char** out_key,
                          const float** out_data, const uint32_t** out_shape, uint32_t* out_ndim);

MXNET_DLL int MXNDListFree(NDListHandle handle);

#ifdef __cplusplus
}
#endif

#endif /* COOPER_MODULE_PREDICT_C_API_C_PREDICT_API_H_ */
