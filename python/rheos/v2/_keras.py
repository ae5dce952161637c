"""The names of tf.keras that TensorFlow 2 has for itself: where each is defined."""

KERAS = {
    "keras": {
        "framework.graph": "name_scope",
        "layers.input_spec": "InputSpec",
        "layers.layer": "Layer",
        "models.losses": "Loss",
        "models.metric": "Metric",
        "models.optimizer": "Optimizer",
        "models.policies": "DTypePolicy FloatDTypePolicy version",
        "models.regularizers": "Regularizer",
        "ops.state.init_ops": "Initializer",
    },
    "keras.activations": {
        "models.activations": """
            celu gelu glu hard_shrink hard_silu hard_swish hard_tanh leaky_relu log_sigmoid
            log_softmax mish relu6 silu soft_shrink sparse_plus sparse_sigmoid sparsemax squareplus
            tanh_shrink threshold
        """,
    },
    "keras.callbacks": {
        "models.callbacks": "BackupAndRestore CallbackList",
    },
    "keras.config": {
        "models.backend": "backend",
        "models.defaults": """
            epsilon floatx image_data_format set_epsilon set_floatx set_image_data_format
        """,
        "models.policies": """
            disable_interactive_logging dtype_policy enable_interactive_logging
            is_interactive_logging_enabled set_dtype_policy
        """,
    },
    "keras.datasets.boston_housing": {
        "models.example_data": "load_data=boston_housing",
    },
    "keras.datasets.cifar10": {
        "models.example_data": "load_data=cifar10",
    },
    "keras.datasets.cifar100": {
        "models.example_data": "load_data=cifar100",
    },
    "keras.datasets.fashion_mnist": {
        "models.example_data": "load_data=fashion_mnist",
    },
    "keras.datasets.imdb": {
        "models.example_data": "load_data=imdb",
    },
    "keras.datasets.mnist": {
        "models.example_data": "load_data=mnist",
    },
    "keras.datasets.reuters": {
        "models.example_data": "load_data=reuters",
    },
    "keras.export": {"models.exporting": "ExportArchive"},
    "keras.initializers": {
        "models.drawn_initializers": """
            GlorotNormal GlorotUniform HeNormal HeUniform IdentityInitializer LecunNormal
            LecunUniform Orthogonal OrthogonalInitializer RandomNormal RandomUniform TruncatedNormal
            VarianceScaling glorot_normal glorot_uniform he_normal he_uniform lecun_normal
            lecun_uniform orthogonal random_normal random_uniform truncated_normal variance_scaling
        """,
    },
    "keras.layers": {
        "models.layers.attention": "MultiHeadAttention",
        "models.layers.augmentation": """
            RandomBrightness RandomContrast RandomCrop RandomFlip RandomRotation RandomShear
            RandomTranslation RandomZoom
        """,
        "models.layers.categories": "CategoryEncoding Discretization HashedCrossing Hashing",
        "models.layers.conv_lstm": "ConvLSTM1D ConvLSTM3D",
        "models.layers.convolutional": """
            Conv1DTranspose Convolution1DTranspose=Conv1DTranspose DepthwiseConv1D
        """,
        "models.layers.einsum": "EinsumDense",
        "models.layers.lookup": "IntegerLookup StringLookup",
        "models.layers.normalization": "GroupNormalization UnitNormalization",
        "models.layers.norms": "Identity RMSNormalization SpectralNormalization",
        "models.layers.pictures": "CenterCrop Resizing",
        "models.layers.saved": "TFSMLayer",
        "models.layers.scaling": "Normalization Rescaling",
        "models.layers.text": "TextVectorization",
    },
    "keras.losses": {
        "models.losses": """
            BinaryFocalCrossentropy CategoricalFocalCrossentropy CategoricalGeneralizedCrossEntropy
            Circle Dice categorical_generalized_cross_entropy circle Tversky
            binary_focal_crossentropy categorical_focal_crossentropy dice huber tversky
        """,
    },
    "keras.metrics": {
        "models.confusion_metrics": "PrecisionAtRecall RecallAtPrecision",
        "models.losses": """
            binary_focal_crossentropy categorical_focal_crossentropy categorical_hinge huber logcosh
        """,
        "models.metric": "MeanMetricWrapper",
        "models.more_metrics": """
            BinaryIoU ConcordanceCorrelation FBetaScore IoU MeanIoU OneHotIoU OneHotMeanIoU
            PearsonCorrelation R2Score concordance_correlation pearson_correlation
        """,
        "models.metrics": "F1Score",
    },
    "keras.dtype_policies": {
        "models.policies": "DTypePolicy FloatDTypePolicy deserialize get serialize",
    },
    "keras.mixed_precision": {
        "models.more_optimizers": "LossScaleOptimizer",
        "models.policies": """
            DTypePolicy Policy dtype_policy global_policy set_dtype_policy set_global_policy
        """,
    },
    "keras.optimizers": {
        "models.more_optimizers": "Adafactor Lamb Lion LossScaleOptimizer",
        "models.optimizers": "AdamW",
    },
    "keras.optimizers.schedules": {
        "models.schedules": """
            CosineDecay CosineDecayRestarts ExponentialDecay InverseTimeDecay LearningRateSchedule
            PiecewiseConstantDecay PolynomialDecay deserialize serialize
        """,
    },
    "keras.preprocessing": {
        "models.directory_data": """
            image_dataset_from_directory text_dataset_from_directory timeseries_dataset_from_array
        """,
    },
    "keras.preprocessing.image": {
        "models.layers.pictures": "smart_resize",
    },
    "keras.preprocessing.text": {
        "models.text_data": "tokenizer_from_json",
    },
    "keras.random": {
        "models.random_numbers": """
            SeedGenerator categorical dropout normal randint shuffle truncated_normal uniform
        """,
    },
    "keras.regularizers": {
        "models.regularizers": "L1 L2 OrthogonalRegularizer",
    },
    "keras.saving": {  # of Keras itself; TensorFlow has these names in other places
        "models.files": "load_model save_model",
        "models.objects": """
            CustomObjectScope custom_object_scope get_custom_objects get_registered_name
            get_registered_object register_keras_serializable
        """,
        "models.utils": "deserialize_keras_object serialize_keras_object",
    },
    "keras.utils": {
        "models.backend": "clear_session",
        "models.directory_data": """
            image_dataset_from_directory split_dataset text_dataset_from_directory
            timeseries_dataset_from_array
        """,
        "models.data": "PyDataset=Sequence",
        "models.open_training": "pack_x_y_sample_weight unpack_x_y_sample_weight",
        "models.image_data": "array_to_img img_to_array load_img save_img",
        "models.objects": "get_registered_name get_registered_object register_keras_serializable",
        "models.policies": """
            disable_interactive_logging enable_interactive_logging is_interactive_logging_enabled
            is_keras_tensor model_to_dot plot_model standardize_dtype
        """,
        "models.sequence_data": "pad_sequences",
        "models.utils": "set_random_seed",
    },
    "keras.utils.experimental": {"models.served_training": "DatasetCreator"},
}

# What is also there without `keras.`.
WITHOUT_KERAS = ("initializers", "losses", "metrics", "optimizers", "optimizers.schedules")
