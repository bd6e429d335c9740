from serving import *
