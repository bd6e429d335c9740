from fixtures import *
