"""The names of tf.keras: where each is defined, by namespace and module."""

KERAS = {
    "keras": {
        "framework.graph": "name_scope",
        "layers.input_spec": "InputSpec",
        "layers.layer": "Layer",
        "models.input_layer": "Input",
        "models.losses": "Loss",
        "models.metric": "Metric",
        "models.model": "Model Sequential",
        "models.optimizer": "Optimizer",
        "models.policies": "DTypePolicy FloatDTypePolicy version",
        "models.regularizers": "Regularizer",
        "ops.init_ops": "Initializer",
    },
    "keras.activations": {
        "models.activations": """
            celu deserialize elu exponential gelu get glu hard_shrink hard_sigmoid hard_silu
            hard_swish hard_tanh leaky_relu linear log_sigmoid log_softmax mish relu relu6 selu
            serialize sigmoid silu soft_shrink softmax softplus softsign sparse_plus sparse_sigmoid
            sparsemax squareplus swish tanh tanh_shrink threshold
        """,
    },
    "keras.backend": {
        "models.backend": """
            backend batch_get_value batch_set_value cast clear_session epsilon eval floatx get_uid
            get_value image_data_format set_epsilon set_floatx set_image_data_format set_value
            variable
        """,
        "models.backend_ops": """
            abs all any arange argmax argmin batch_dot batch_flatten batch_normalization bias_add
            binary_crossentropy cast_to_floatx categorical_crossentropy clip concatenate constant
            conv1d conv2d conv2d_transpose conv3d cos count_params ctc_batch_cost ctc_decode
            ctc_label_dense_to_sparse cumprod cumsum dot dropout dtype elu equal exp expand_dims
            eye flatten foldl foldr gather gradients greater greater_equal hard_sigmoid in_top_k
            int_shape is_sparse l2_normalize less less_equal log map_fn max maximum mean min
            minimum moving_average_update name_scope ndim not_equal one_hot ones ones_like
            permute_dimensions pool2d pool3d pow prod random_normal random_normal_variable
            random_uniform random_uniform_variable relu repeat repeat_elements reshape
            resize_images resize_volumes reverse rnn round separable_conv2d shape sigmoid sign sin
            softmax softplus softsign sparse_categorical_crossentropy spatial_2d_padding
            spatial_3d_padding sqrt square squeeze stack std stop_gradient sum switch tanh
            temporal_padding tile to_dense transpose truncated_normal update update_add update_sub
            var zeros zeros_like
        """,
    },
    "keras.callbacks": {
        "models.callbacks": """
            BackupAndRestore CSVLogger Callback CallbackList EarlyStopping History LambdaCallback
            LearningRateScheduler ModelCheckpoint ProgbarLogger ReduceLROnPlateau RemoteMonitor
            TerminateOnNaN
        """,
        "models.tensorboard": "TensorBoard",
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
    "keras.constraints": {
        "models.constraints": """
            Constraint MaxNorm MinMaxNorm NonNeg UnitNorm deserialize get max_norm min_max_norm
            non_neg serialize unit_norm
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
            Constant GlorotNormal GlorotUniform HeNormal HeUniform Identity IdentityInitializer
            Initializer LecunNormal LecunUniform Ones Orthogonal OrthogonalInitializer RandomNormal
            RandomUniform TruncatedNormal VarianceScaling Zeros constant deserialize get
            glorot_normal glorot_uniform he_normal he_uniform identity lecun_normal lecun_uniform
            ones orthogonal random_normal random_uniform serialize truncated_normal
            variance_scaling zeros
        """,
    },
    "keras.layers": {
        "layers.input_spec": "InputSpec",
        "layers.layer": "Layer",
        "models.input_layer": "Input InputLayer",
        "models.layers.activations": "ELU LeakyReLU PReLU ReLU ThresholdedReLU",
        "models.layers.attention": "AdditiveAttention Attention MultiHeadAttention",
        "models.layers.augmentation": """
            RandomBrightness RandomContrast RandomCrop RandomFlip RandomRotation RandomShear
            RandomTranslation RandomZoom
        """,
        "models.layers.categories": "CategoryEncoding Discretization HashedCrossing Hashing",
        "models.layers.conv_lstm": "ConvLSTM1D ConvLSTM2D ConvLSTM3D",
        "models.layers.convolutional": """
            Conv1D Conv1DTranspose Convolution1DTranspose=Conv1DTranspose Conv2D Conv2DTranspose
            Conv3D Conv3DTranspose Convolution1D
            Convolution2D Convolution2DTranspose Convolution3D Convolution3DTranspose Cropping1D
            Cropping2D Cropping3D DepthwiseConv1D DepthwiseConv2D SeparableConv1D SeparableConv2D
            SeparableConvolution1D SeparableConvolution2D UpSampling1D UpSampling2D UpSampling3D
            ZeroPadding1D ZeroPadding2D ZeroPadding3D
        """,
        "models.layers.core": """
            Activation ActivityRegularization AlphaDropout Dense Dropout Flatten GaussianDropout
            GaussianNoise Lambda Masking Permute RepeatVector Reshape Softmax SpatialDropout1D
            SpatialDropout2D SpatialDropout3D
        """,
        "models.layers.einsum": "EinsumDense",
        "models.layers.embeddings": "Embedding",
        "models.layers.lookup": "IntegerLookup StringLookup",
        "models.layers.merge": """
            Add Average Concatenate Dot Maximum Minimum Multiply Subtract add average concatenate
            dot maximum minimum multiply subtract
        """,
        "models.layers.normalization": """
            BatchNormalization GroupNormalization LayerNormalization UnitNormalization
        """,
        "models.layers.norms": "Identity RMSNormalization SpectralNormalization",
        "models.layers.pictures": "CenterCrop Resizing",
        "models.layers.pooling": """
            AveragePooling1D AveragePooling2D AveragePooling3D AvgPool1D AvgPool2D AvgPool3D
            GlobalAveragePooling1D GlobalAveragePooling2D GlobalAveragePooling3D GlobalAvgPool1D
            GlobalAvgPool2D GlobalAvgPool3D GlobalMaxPool1D GlobalMaxPool2D GlobalMaxPool3D
            GlobalMaxPooling1D GlobalMaxPooling2D GlobalMaxPooling3D MaxPool1D MaxPool2D MaxPool3D
            MaxPooling1D MaxPooling2D MaxPooling3D
        """,
        "models.layers.recurrent": "GRU LSTM RNN SimpleRNN",
        "models.layers.recurrent_cells": "GRUCell LSTMCell SimpleRNNCell StackedRNNCells",
        "models.layers.registry": "deserialize serialize",
        "models.layers.saved": "TFSMLayer",
        "models.layers.scaling": "Normalization Rescaling",
        "models.layers.text": "TextVectorization",
        "models.layers.wrappers": "Bidirectional TimeDistributed Wrapper",
    },
    "keras.losses": {
        "models.losses": """
            BinaryCrossentropy BinaryFocalCrossentropy CategoricalCrossentropy
            CategoricalFocalCrossentropy CategoricalGeneralizedCrossEntropy CategoricalHinge Circle
            CosineSimilarity Dice Hinge Huber KLD categorical_generalized_cross_entropy circle
            KLDivergence LogCosh Loss MAE MAPE MSE MSLE MeanAbsoluteError
            MeanAbsolutePercentageError MeanSquaredError MeanSquaredLogarithmicError Poisson
            SparseCategoricalCrossentropy SquaredHinge Tversky binary_crossentropy
            binary_focal_crossentropy categorical_crossentropy categorical_focal_crossentropy
            categorical_hinge cosine_similarity deserialize dice get hinge huber kld
            kullback_leibler_divergence logcosh mae mape mse msle poisson serialize
            sparse_categorical_crossentropy squared_hinge tversky
        """,
    },
    "keras.metrics": {
        "models.confusion_metrics": """
            AUC FalseNegatives FalsePositives Precision PrecisionAtRecall Recall RecallAtPrecision
            SensitivityAtSpecificity SpecificityAtSensitivity TrueNegatives TruePositives
        """,
        "models.losses": """
            binary_focal_crossentropy categorical_focal_crossentropy categorical_hinge huber
            logcosh
        """,
        "models.metric": "Mean MeanMetricWrapper Metric Sum",
        "models.more_metrics": """
            BinaryIoU ConcordanceCorrelation FBetaScore IoU MeanIoU OneHotIoU OneHotMeanIoU
            PearsonCorrelation R2Score concordance_correlation pearson_correlation
        """,
        "models.metrics": """
            Accuracy BinaryAccuracy BinaryCrossentropy CategoricalAccuracy CategoricalCrossentropy
            CategoricalHinge CosineSimilarity F1Score Hinge KLD KLDivergence LogCoshError MAE MAPE
            MSE MSLE MeanAbsoluteError MeanAbsolutePercentageError MeanSquaredError
            MeanSquaredLogarithmicError Poisson RootMeanSquaredError SparseCategoricalAccuracy
            SparseCategoricalCrossentropy SparseTopKCategoricalAccuracy SquaredHinge
            TopKCategoricalAccuracy binary_accuracy binary_crossentropy categorical_accuracy
            categorical_crossentropy deserialize get hinge kld kullback_leibler_divergence mae mape
            mse msle poisson serialize sparse_categorical_accuracy sparse_categorical_crossentropy
            sparse_top_k_categorical_accuracy squared_hinge top_k_categorical_accuracy
        """,
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
    "keras.models": {
        "models.cloning": "clone_model",
        "models.files": "load_model save_model",
        "models.model": "Model Sequential",
        "models.saving": "model_from_json",
    },
    "keras.optimizers": {
        "models.more_optimizers": "Adafactor Lamb Lion LossScaleOptimizer",
        "models.optimizer": "Optimizer",
        "models.optimizers": """
            Adadelta Adagrad Adam AdamW Adamax Ftrl Nadam RMSprop SGD deserialize get serialize
        """,
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
        "models.image_data": """
            DirectoryIterator ImageDataGenerator Iterator NumpyArrayIterator apply_affine_transform
            apply_channel_shift array_to_img img_to_array load_img random_channel_shift
            random_rotation random_shear random_shift random_zoom save_img
        """,
    },
    "keras.preprocessing.sequence": {
        "models.sequence_data": "TimeseriesGenerator make_sampling_table pad_sequences skipgrams",
    },
    "keras.preprocessing.text": {
        "models.text_data": """
            Tokenizer hashing_trick one_hot text_to_word_sequence tokenizer_from_json
        """,
    },
    "keras.random": {
        "models.random_numbers": """
            SeedGenerator categorical dropout normal randint shuffle truncated_normal uniform
        """,
    },
    "keras.regularizers": {
        "models.regularizers": """
            L1 L1L2 L2 OrthogonalRegularizer Regularizer deserialize get l1 l1_l2 l2 serialize
        """,
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
        "models.data": "PyDataset=Sequence Sequence",
        "models.open_training": "pack_x_y_sample_weight unpack_x_y_sample_weight",
        "models.image_data": "array_to_img img_to_array load_img save_img",
        "models.objects": """
            CustomObjectScope custom_object_scope get_custom_objects get_registered_name
            get_registered_object register_keras_serializable
        """,
        "models.policies": """
            disable_interactive_logging enable_interactive_logging is_interactive_logging_enabled
            is_keras_tensor model_to_dot plot_model standardize_dtype
        """,
        "models.progress": "Progbar",
        "models.sequence_data": "pad_sequences",
        "models.utils": """
            deserialize_keras_object get_file get_source_inputs normalize serialize_keras_object
            set_random_seed to_categorical
        """,
    },
}

# What is also there without `keras.`.
for _name in ("initializers", "losses", "metrics", "optimizers", "optimizers.schedules"):
    KERAS[_name] = KERAS[f"keras.{_name}"]
