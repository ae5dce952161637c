"""Functions with an inverse: tf.contrib.distributions.bijectors."""

from rheos.contrib.bijectors import (
    AbsoluteValue,
    AffineScalar,
    Bijector,
    Chain,
    ConditionalBijector,
    Exp,
    Gumbel,
    Identity,
    Inline,
    Invert,
    Kumaraswamy,
    PowerTransform,
    Sigmoid,
    SinhArcsinh,
    Softplus,
    Softsign,
    Square,
    Weibull,
)
from rheos.contrib.flows import (
    BatchNormalization,
    MaskedAutoregressiveFlow,
    RealNVP,
    masked_autoregressive_default_template,
    masked_dense,
    real_nvp_default_template,
)
from rheos.contrib.linear_bijectors import (
    Affine,
    AffineLinearOperator,
    CholeskyOuterProduct,
    FillTriangular,
    MatrixInverseTriL,
    Ordered,
    Permute,
    Reshape,
    ScaleTriL,
    SoftmaxCentered,
    TransformDiagonal,
)
from rheos.framework.absent import attribute_of as _attribute_of

__getattr__ = _attribute_of("tensorflow.contrib.distributions.bijectors")
