"""Layers (tf.keras.layers)."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.layers.column_layers import (
    DenseFeatures,
)
from rheos.layers.input_spec import (
    InputSpec,
)
from rheos.layers.layer import (
    Layer,
)
from rheos.models.input_layer import (
    Input,
    InputLayer,
)
from rheos.models.layers.activations import (
    ELU,
    LeakyReLU,
    PReLU,
    ReLU,
    ThresholdedReLU,
)
from rheos.models.layers.attention import (
    AdditiveAttention,
    Attention,
)
from rheos.models.layers.conv_lstm import (
    ConvLSTM2D,
)
from rheos.models.layers.convolutional import (
    Conv1D,
    Conv2D,
    Conv2DTranspose,
    Conv3D,
    Conv3DTranspose,
    Convolution1D,
    Convolution2D,
    Convolution2DTranspose,
    Convolution3D,
    Convolution3DTranspose,
    Cropping1D,
    Cropping2D,
    Cropping3D,
    DepthwiseConv2D,
    SeparableConv1D,
    SeparableConv2D,
    SeparableConvolution1D,
    SeparableConvolution2D,
    UpSampling1D,
    UpSampling2D,
    UpSampling3D,
    ZeroPadding1D,
    ZeroPadding2D,
    ZeroPadding3D,
)
from rheos.models.layers.core import (
    Activation,
    ActivityRegularization,
    AlphaDropout,
    Dense,
    Dropout,
    Flatten,
    GaussianDropout,
    GaussianNoise,
    Lambda,
    Masking,
    Permute,
    RepeatVector,
    Reshape,
    Softmax,
    SpatialDropout1D,
    SpatialDropout2D,
    SpatialDropout3D,
)
from rheos.models.layers.embeddings import (
    Embedding,
)
from rheos.models.layers.local import (
    LocallyConnected1D,
    LocallyConnected2D,
)
from rheos.models.layers.merge import (
    Add,
    Average,
    Concatenate,
    Dot,
    Maximum,
    Minimum,
    Multiply,
    Subtract,
    add,
    average,
    concatenate,
    dot,
    maximum,
    minimum,
    multiply,
    subtract,
)
from rheos.models.layers.normalization import (
    BatchNormalization,
    LayerNormalization,
)
from rheos.models.layers.pooling import (
    AveragePooling1D,
    AveragePooling2D,
    AveragePooling3D,
    AvgPool1D,
    AvgPool2D,
    AvgPool3D,
    GlobalAveragePooling1D,
    GlobalAveragePooling2D,
    GlobalAveragePooling3D,
    GlobalAvgPool1D,
    GlobalAvgPool2D,
    GlobalAvgPool3D,
    GlobalMaxPool1D,
    GlobalMaxPool2D,
    GlobalMaxPool3D,
    GlobalMaxPooling1D,
    GlobalMaxPooling2D,
    GlobalMaxPooling3D,
    MaxPool1D,
    MaxPool2D,
    MaxPool3D,
    MaxPooling1D,
    MaxPooling2D,
    MaxPooling3D,
)
from rheos.models.layers.recurrent import (
    GRU,
    LSTM,
    RNN,
    CuDNNGRU,
    CuDNNLSTM,
    SimpleRNN,
)
from rheos.models.layers.recurrent_cells import (
    AbstractRNNCell,
    GRUCell,
    LSTMCell,
    SimpleRNNCell,
    StackedRNNCells,
)
from rheos.models.layers.registry import (
    deserialize,
    serialize,
)
from rheos.models.layers.wrappers import (
    Bidirectional,
    TimeDistributed,
    Wrapper,
)

__getattr__ = _attribute_of("tensorflow.keras.layers")
