"""The names of tf.keras that are in TensorFlow 1 and 2 the same thing, as in `same.py`."""

SAME_KERAS = {
    "keras": {
        "models.input_layer": "Input",
        "models.model": "Model Sequential",
    },
    "keras.activations": {
        "models.activations": """
            deserialize elu exponential get hard_sigmoid linear relu selu serialize sigmoid softmax
            softplus softsign swish tanh
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
            ctc_label_dense_to_sparse cumprod cumsum dot dropout dtype elu equal exp expand_dims eye
            flatten foldl foldr gather gradients greater greater_equal hard_sigmoid in_top_k
            int_shape is_sparse l2_normalize less less_equal log map_fn max maximum mean min minimum
            moving_average_update name_scope ndim not_equal one_hot ones ones_like
            permute_dimensions pool2d pool3d pow prod random_normal random_normal_variable
            random_uniform random_uniform_variable relu repeat repeat_elements reshape resize_images
            resize_volumes reverse rnn round separable_conv2d shape sigmoid sign sin softmax
            softplus softsign sparse_categorical_crossentropy spatial_2d_padding spatial_3d_padding
            sqrt square squeeze stack std stop_gradient sum switch tanh temporal_padding tile
            to_dense transpose truncated_normal update update_add update_sub var zeros zeros_like
        """,
    },
    "keras.callbacks": {
        "models.callbacks": """
            CSVLogger Callback EarlyStopping History LambdaCallback LearningRateScheduler
            ModelCheckpoint ProgbarLogger ReduceLROnPlateau RemoteMonitor TerminateOnNaN
        """,
        "models.nan_callback": "FirstNaN",
        "models.tensorboard": "TensorBoard",
    },
    "keras.constraints": {
        "models.constraints": """
            Constraint MaxNorm MinMaxNorm NonNeg UnitNorm deserialize get max_norm min_max_norm
            non_neg serialize unit_norm
        """,
    },
    "keras.initializers": {
        "models.drawn_initializers": """
            Constant Identity Initializer Ones Zeros constant identity ones zeros
        """,
        "models.initializers": "deserialize get serialize",
    },
    "keras.layers": {
        "layers.input_spec": "InputSpec",
        "layers.layer": "Layer",
        "models.input_layer": "Input InputLayer",
        "models.layers.activations": "ELU LeakyReLU PReLU ReLU ThresholdedReLU",
        "models.layers.attention": "AdditiveAttention Attention",
        "models.layers.conv_lstm": "ConvLSTM2D",
        "models.layers.convolutional": """
            Conv1D Conv2D Conv2DTranspose Conv3D Conv3DTranspose Convolution1D Convolution2D
            Convolution2DTranspose Convolution3D Convolution3DTranspose Cropping1D Cropping2D
            Cropping3D DepthwiseConv2D SeparableConv1D SeparableConv2D SeparableConvolution1D
            SeparableConvolution2D UpSampling1D UpSampling2D UpSampling3D ZeroPadding1D
            ZeroPadding2D ZeroPadding3D
        """,
        "models.layers.core": """
            Activation ActivityRegularization AlphaDropout Dense Dropout Flatten GaussianDropout
            GaussianNoise Lambda Masking Permute RepeatVector Reshape Softmax SpatialDropout1D
            SpatialDropout2D SpatialDropout3D
        """,
        "models.layers.embeddings": "Embedding",
        "models.layers.merge": """
            Add Average Concatenate Dot Maximum Minimum Multiply Subtract add average concatenate
            dot maximum minimum multiply subtract
        """,
        "models.layers.normalization": "BatchNormalization LayerNormalization",
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
        "models.layers.wrappers": "Bidirectional TimeDistributed Wrapper",
    },
    "keras.losses": {
        "models.losses": """
            BinaryCrossentropy CategoricalCrossentropy CategoricalHinge CosineSimilarity Hinge Huber
            KLD KLDivergence LogCosh Loss MAE MAPE MSE MSLE MeanAbsoluteError
            MeanAbsolutePercentageError MeanSquaredError MeanSquaredLogarithmicError Poisson
            SparseCategoricalCrossentropy SquaredHinge binary_crossentropy categorical_crossentropy
            categorical_hinge cosine_similarity deserialize get hinge kld
            kullback_leibler_divergence logcosh mae mape mse msle poisson serialize
            sparse_categorical_crossentropy squared_hinge
        """,
    },
    "keras.metrics": {
        "models.confusion_metrics": """
            AUC FalseNegatives FalsePositives Precision Recall SensitivityAtSpecificity
            SpecificityAtSensitivity TrueNegatives TruePositives
        """,
        "models.metric": "Mean Metric Sum",
        "models.metrics": """
            Accuracy BinaryAccuracy BinaryCrossentropy CategoricalAccuracy CategoricalCrossentropy
            CategoricalHinge CosineSimilarity Hinge KLD KLDivergence LogCoshError MAE MAPE MSE MSLE
            MeanAbsoluteError MeanAbsolutePercentageError MeanSquaredError
            MeanSquaredLogarithmicError Poisson RootMeanSquaredError SparseCategoricalAccuracy
            SparseCategoricalCrossentropy SparseTopKCategoricalAccuracy SquaredHinge
            TopKCategoricalAccuracy binary_accuracy binary_crossentropy categorical_accuracy
            categorical_crossentropy deserialize get hinge kld kullback_leibler_divergence mae mape
            mse msle poisson serialize sparse_categorical_accuracy sparse_categorical_crossentropy
            sparse_top_k_categorical_accuracy squared_hinge top_k_categorical_accuracy
        """,
    },
    "keras.models": {
        "models.cloning": "clone_model",
        "models.files": "load_model save_model",
        "models.model": "Model Sequential",
        "models.saving": "model_from_json",
    },
    "keras.optimizers": {
        "models.optimizer": "Optimizer",
        "models.optimizers": """
            Adadelta Adagrad Adam Adamax Ftrl Nadam RMSprop SGD deserialize get serialize
        """,
    },
    "keras.preprocessing.image": {
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
        "models.text_data": "Tokenizer hashing_trick one_hot text_to_word_sequence",
    },
    "keras.regularizers": {
        "models.regularizers": "L1L2 Regularizer deserialize get l1 l1_l2 l2 serialize",
    },
    "keras.utils": {
        "models.data": "Sequence",
        "models.objects": "CustomObjectScope custom_object_scope get_custom_objects",
        "models.progress": "Progbar",
        "models.utils": """
            deserialize_keras_object get_file get_source_inputs normalize serialize_keras_object
            to_categorical
        """,
    },
}
