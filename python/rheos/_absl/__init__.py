"""What `import absl` means where no package of that name is installed: flags, app and logging.

It has what programs of TensorFlow use of them.
"""
