#ifndef COOPER_MODULE_PREDICT_C_API_C_PREDICT_API_H_
#define COOPER_MODULE_PREDICT_C_API_C_PREDICT_API_H_

// MXNet 1.x's C interface for prediction, with the same names, arguments and binary interface. A
// program written for libmxnet_predict.so, or linked with it, runs with libcooper_predict.so.
// MXNet: include/mxnet/c_predict_api.h.
//
// Every function returns 0, or -1 after an error, whose text MXGetLastError returns. No function
// throws. Shapes are passed as in MXNet: input i has the extents from
// input_shape_data[input_shape_indptr[i]] up to, but without,
// input_shape_data[input_shape_indptr[i + 1]].
//
// Only one thread at a time may use a handle. Handles of different threads share no state that is
// written, except parameters that MXPredSetInput sets.

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
/* An array passed to a monitor's callback; valid during the call. */
typedef void* NDArrayHandle;
typedef void (*PredMonitorCallback)(const char* name, NDArrayHandle array, void* callback_handle);
/* NOLINTEND(modernize-deprecated-headers,modernize-use-using) */

/* Returns the error text of this thread's last failed call. Valid until its next failed call. */
MXNET_DLL const char* MXGetLastError();

/* Binds the network of a symbol file's text to inputs of these shapes, with the parameters of a
 * .params file's bytes. dev_type is 1 for the CPU and 2 for a GPU. An argument that is neither a
 * parameter nor an input, such as a label, has the shape that follows from the others, and zeros.
 * An input for which the file has a value starts with that value and keeps its dtype; the shapes
 * must agree.
 */
MXNET_DLL int MXPredCreate(const char* symbol_json_str, const void* param_bytes, int param_size,
                           int dev_type, int dev_id, uint32_t num_input_nodes,
                           const char** input_keys, const uint32_t* input_shape_indptr,
                           const uint32_t* input_shape_data, PredictorHandle* out);

/* The same with dtypes of arguments, in MXNet's codes: 0 float32, 1 float64, 2 float16, 3 uint8,
 * 4 int32, 5 int8, 6 int64. Parameters and inputs in the file keep the file's dtypes. Arguments
 * that are neither listed here nor in the file are float32, whatever dtype the symbol gives them.
 */
MXNET_DLL int MXPredCreateEx(const char* symbol_json_str, const void* param_bytes, int param_size,
                             int dev_type, int dev_id, uint32_t num_input_nodes,
                             const char** input_keys, const uint32_t* input_shape_indptr,
                             const uint32_t* input_shape_data, uint32_t num_provided_arg_dtypes,
                             const char** provided_arg_dtype_names, const int* provided_arg_dtypes,
                             PredictorHandle* out);

/* The same with the outputs of these nodes ("fc1" for fc1_output) in place of the network's own. */
MXNET_DLL int MXPredCreatePartialOut(const char* symbol_json_str, const void* param_bytes,
                                     int param_size, int dev_type, int dev_id,
                                     uint32_t num_input_nodes, const char** input_keys,
                                     const uint32_t* input_shape_indptr,
                                     const uint32_t* input_shape_data, uint32_t num_output_nodes,
                                     const char** output_keys, PredictorHandle* out);

/* Writes num_threads handles to out[0] and the following elements. They share the parameters and
 * the compiled program. */
MXNET_DLL int MXPredCreateMultiThread(const char* symbol_json_str, const void* param_bytes,
                                      int param_size, int dev_type, int dev_id,
                                      uint32_t num_input_nodes, const char** input_keys,
                                      const uint32_t* input_shape_indptr,
                                      const uint32_t* input_shape_data, int num_threads,
                                      PredictorHandle* out);

/* Creates a handle for other shapes of inputs. It shares the parameters and the memory of
 * activations with the old handle, which stays valid: use only one of the two at a time; outputs
 * are those of the last forward pass of either. Parameters must keep their shapes. */
MXNET_DLL int MXPredReshape(uint32_t num_input_nodes, const char** input_keys,
                            const uint32_t* input_shape_indptr, const uint32_t* input_shape_data,
                            PredictorHandle handle, PredictorHandle* out);

/* Returns the shape of an output. Valid until the next call for this handle. */
MXNET_DLL int MXPredGetOutputShape(PredictorHandle handle, uint32_t index, uint32_t** shape_data,
                                   uint32_t* shape_ndim);

/* Writes the code of an output's dtype to out_dtype[out_index], as MXNet does. */
MXNET_DLL int MXPredGetOutputType(PredictorHandle handle, uint32_t out_index, int* out_dtype);

/* Sets an argument to `size` elements of its dtype; it must have that many. */
MXNET_DLL int MXPredSetInput(PredictorHandle handle, const char* key, const float* data,
                             uint32_t size);

MXNET_DLL int MXPredForward(PredictorHandle handle);

/* For programs that run a network step by step: call it with step 0, 1, ... until *step_left is 0.
 * The last step computes everything. */
MXNET_DLL int MXPredPartialForward(PredictorHandle handle, int step, int* step_left);

/* Copies an output of the last forward pass, which has `size` elements, in its dtype. */
MXNET_DLL int MXPredGetOutput(PredictorHandle handle, uint32_t index, float* data, uint32_t size);

MXNET_DLL int MXPredFree(PredictorHandle handle);

/* Sets a callback for each operator's outputs and, with monitor_all, inputs. Null removes it. */
MXNET_DLL int MXPredSetMonitorCallback(PredictorHandle handle, PredMonitorCallback callback,
                                       void* callback_handle, bool monitor_all);

/* Reads the arrays of a .params file's bytes, as float32. */
MXNET_DLL int MXNDListCreate(const char* nd_file_bytes, int nd_file_size, NDListHandle* out,
                             uint32_t* out_length);

/* Returns an array; its name is empty if the file has none. Valid until MXNDListFree. */
MXNET_DLL int MXNDListGet(NDListHandle handle, uint32_t index, const char** out_key,
                          const float** out_data, const uint32_t** out_shape, uint32_t* out_ndim);

MXNET_DLL int MXNDListFree(NDListHandle handle);

#ifdef __cplusplus
}
#endif

#endif /* COOPER_MODULE_PREDICT_C_API_C_PREDICT_API_H_ */
