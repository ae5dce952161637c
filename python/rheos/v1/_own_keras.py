"""The names of tf.keras that TensorFlow 1 has for itself: where each is defined."""

KERAS = {
    "keras.backend": {
        "models.backend": """
            get_session learning_phase learning_phase_scope placeholder reset_uids
            set_learning_phase set_session
        """,
        "models.backend_ops": """
            function in_test_phase in_train_phase manual_variable_initialization
            normalize_batch_in_training print_tensor random_binomial
        """,
    },
    "keras.callbacks": {"models.callbacks": "BaseLogger"},
    "keras.experimental": {"layers.column_layers": "SequenceFeatures"},
    "keras.initializers": {
        "models.initializers": """
            Orthogonal RandomNormal RandomUniform TruncatedNormal VarianceScaling glorot_normal
            glorot_uniform he_normal he_uniform lecun_normal lecun_uniform normal orthogonal
            random_normal random_uniform truncated_normal uniform
        """,
    },
    "keras.layers": {
        "layers.column_layers": "DenseFeatures",
        "models.layers.local": "LocallyConnected1D LocallyConnected2D",
        "models.layers.recurrent": "CuDNNGRU CuDNNLSTM",
        "models.layers.recurrent_cells": "AbstractRNNCell",
    },
    "keras.losses": {
        "models.losses": """
            cosine cosine_proximity mean_absolute_error mean_absolute_percentage_error
            mean_squared_error mean_squared_logarithmic_error
        """,
    },
    "keras.metrics": {
        "models.metrics": """
            MeanIoU MeanRelativeError MeanTensor cosine cosine_proximity mean_absolute_error
            mean_absolute_percentage_error mean_squared_error mean_squared_logarithmic_error
        """,
    },
    "keras.models": {"models.saving": "model_from_config model_from_yaml"},
    "keras.optimizer_schedules": {
        "models.schedules": """
            CosineDecay CosineDecayRestarts ExponentialDecay InverseTimeDecay LearningRateSchedule
            PiecewiseConstantDecay PolynomialDecay deserialize serialize
        """,
    },
    "keras.utils": {"models.utils": "convert_all_kernels_in_model"},
}
