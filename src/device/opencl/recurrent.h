// Recurrent cells as one op: steps and sequences of LSTM, steps of GRU, and their gradients.
#ifndef RHEOS_SRC_DEVICE_OPENCL_RECURRENT_H
#define RHEOS_SRC_DEVICE_OPENCL_RECURRENT_H

#include "device/opencl/launch.h"

rheos_status *rheos__cl_prepare_lstm(rheos__prepare *p);
rheos_status *rheos__cl_prepare_lstm_cell_grad(rheos__prepare *p);
rheos_status *rheos__cl_prepare_lstm_grad(rheos__prepare *p);
rheos_status *rheos__cl_prepare_gru(rheos__prepare *p);
rheos_status *rheos__cl_prepare_gru_grad(rheos__prepare *p);

#endif  // RHEOS_SRC_DEVICE_OPENCL_RECURRENT_H
